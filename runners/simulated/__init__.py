"""Simulated hosts: any plan runs against them in no time, without connections or tools.

A simulated run makes the same journal, raw outputs, store and brief as a real one, and each of these is marked as
simulated. Its numbers come from a queueing model (`load_model.py`), and say nothing about any machine.
"""

"""Simulated hosts: any plan runs against them, in no time, without a connection or a tool.

A run against them goes the way of a real one (journal, raw outputs, store, brief), and is marked as simulated in all of
these. Its numbers come from a queueing model (`model.py`), and say nothing about any machine.
"""

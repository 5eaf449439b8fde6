"""Runs a plan, and writes a journal and raw outputs."""

"""Runs a plan, which results in a journal and raw results."""

"""Runs a plan: everything from the plan to a journal and raw results."""

"""Runs a plan: lanes, cells, steps and their jobs."""

"""Decisions made between cells: knee searches, and repeats until the mean is known."""

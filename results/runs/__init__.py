"""Runs in their folder: finding them, summarising them, and reusing their results."""

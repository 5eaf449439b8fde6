"""Runs in their folder: how to find them, summarise them, and reuse their results."""

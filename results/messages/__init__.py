"""Sentences on results: why a value is missing, and what limits it."""

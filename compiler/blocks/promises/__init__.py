"""Promises: the highest rate at which limits are kept."""

"""Histogram logs by themselves."""

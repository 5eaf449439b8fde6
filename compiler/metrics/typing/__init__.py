"""Expressions with their dimensions and units."""

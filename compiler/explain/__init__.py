"""Explains a plan, or the difference between two plans, in words."""

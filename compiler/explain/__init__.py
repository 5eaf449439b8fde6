"""A plan, or the difference between two, in words."""

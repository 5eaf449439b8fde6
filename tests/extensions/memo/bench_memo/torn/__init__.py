"""A template that is wrong."""

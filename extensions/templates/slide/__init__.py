"""A template that lays out a brief as slides."""

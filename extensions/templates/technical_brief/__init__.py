"""A template that lays out a brief as a technical brief."""

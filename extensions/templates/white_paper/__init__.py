"""A template that lays out a brief as a white paper."""

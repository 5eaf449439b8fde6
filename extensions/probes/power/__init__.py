"""A probe for the power that hosts draw, according to their meters."""

"""The power that hosts draw, according to their meters."""

"""The shapes of values, which blocks and extensions declare for their attributes."""

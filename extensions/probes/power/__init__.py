"""How much power hosts draw, by their meters."""

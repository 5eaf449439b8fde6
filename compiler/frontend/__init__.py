"""Files, declarations and names: what a spec declares, and what its names refer to."""

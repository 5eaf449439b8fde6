"""Files, declarations and names: the things that a spec declares, and the things that its names refer to."""

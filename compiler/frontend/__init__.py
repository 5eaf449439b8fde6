"""Files, declarations and names: what a spec declares, and who is meant."""

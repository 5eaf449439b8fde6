"""Reads each kind of block in a spec, and checks its attributes."""

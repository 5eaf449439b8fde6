"""The journal of a run, its folder, and what it keeps secret."""

"""The power meters, one folder each: the spec in `spec.py`, the class that reads the meter, and a program of ours if no
tool does."""

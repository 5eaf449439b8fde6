"""The power meters, one folder each, with its spec in `spec.py`, and a program where no tool reads it."""

"""The power meters, one folder each, with its spec in `spec.py`."""

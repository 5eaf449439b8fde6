"""The importers, one folder each, with its spec in `spec.py`."""

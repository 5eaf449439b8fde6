"""The memo."""

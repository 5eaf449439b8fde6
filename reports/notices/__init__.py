"""The limits of a brief's numbers."""

"""A host's TCP connections."""

"""A probe for a host's TCP connections."""

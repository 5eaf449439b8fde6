"""A probe for the load on a host's processors."""

"""The load on a host's processors."""

"""A probe for a host's use of memory."""

"""A probe for the traffic of a host's network interfaces."""

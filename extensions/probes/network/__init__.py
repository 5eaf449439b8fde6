"""The traffic of a host's network interfaces."""

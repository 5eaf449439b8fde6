"""Hosts, hardware groups, variants and clients."""

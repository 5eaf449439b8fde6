"""Transports, one folder each."""

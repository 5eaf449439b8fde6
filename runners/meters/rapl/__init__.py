"""Reads the counters of CPU packages."""

"""Probes, one folder each."""

"""Schedulers, one folder each."""

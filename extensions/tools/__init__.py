"""Load generators, one folder each."""

"""Power meters, one folder each."""

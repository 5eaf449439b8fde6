"""Templates of briefs, one folder each."""

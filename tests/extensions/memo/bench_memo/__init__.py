"""Templates of briefs."""

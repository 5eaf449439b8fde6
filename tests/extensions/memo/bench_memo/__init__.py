"""A package with templates of briefs."""

"""Results that were measured elsewhere: published tables and finished outputs, each import kept as a run."""

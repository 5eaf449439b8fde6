"""Results that were measured elsewhere: published tables and finished outputs, kept as runs of their own."""

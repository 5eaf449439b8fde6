"""Commands that start, follow, continue and end runs."""

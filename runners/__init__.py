"""Plan to journal and raw results."""

"""A page of series over many runs."""

"""A probe for the activity of a host's block devices."""

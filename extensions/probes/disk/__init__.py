"""The activity of a host's block devices."""

"""A quantity over many runs: its series, where it changed, and whether the last run is worth an alarm."""

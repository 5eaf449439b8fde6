"""Converts a run's directory to typed rows, parsing the raw outputs again."""

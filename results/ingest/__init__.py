"""Conversion of a run's directory to typed rows. The raw outputs are parsed again."""

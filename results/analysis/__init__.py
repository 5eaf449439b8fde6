"""Verdicts on a run's results: its expectations, its promised rates, and cautions about its numbers."""

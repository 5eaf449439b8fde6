"""Sentences that a run records: codes with arguments, and their words in each language."""

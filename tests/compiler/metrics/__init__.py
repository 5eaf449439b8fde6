"""Metrics and reports: typed, lowered to SQL, and run on generated measurements."""

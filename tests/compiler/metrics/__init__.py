"""Metrics and reports: typed, lowered to SQL, and run against generated measurements."""

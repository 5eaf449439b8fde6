"""The plan: cells, order, times, fingerprints, and the difference between two plans."""

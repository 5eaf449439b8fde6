"""Runs each lane as a separate process in a separate folder, and merges the lanes into one run."""

"""Runs each lane as a process of its own, in a folder of its own, and merges the lanes into one run."""

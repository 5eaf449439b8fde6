"""Experiments: ramps, repeats, searches, phases and probes."""

"""MongoDB: attached to, started for the run, or the embedded stand-in."""

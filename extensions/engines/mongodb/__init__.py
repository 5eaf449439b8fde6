"""An engine for MongoDB: a server that already runs, one started for the run, or the embedded stand-in."""

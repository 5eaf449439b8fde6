"""An engine for MongoDB: a server that already runs, a server started for the run, or the embedded stand-in."""

"""The results of runs: a typed store, built from the journal and the raw outputs, and queries over it."""

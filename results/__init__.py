"""The results of runs: a typed store that is built from the journal and the raw outputs, and queries over
that store."""

"""Work with many runs: the shared store, series and their changes, gates, and sites."""

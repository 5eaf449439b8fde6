"""Works with many runs: the shared store, series over runs and their changes, gates, and web sites."""

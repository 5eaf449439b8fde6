"""Journal and raw results to a typed, queryable store."""

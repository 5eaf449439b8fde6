"""A user's SQL, and its answer in every format."""

"""A store of runs that a team shares: a folder or a bucket, and what is pushed there, pulled and asked."""

"""go-ycsb."""

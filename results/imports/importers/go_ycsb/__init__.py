"""go-ycsb's outputs."""

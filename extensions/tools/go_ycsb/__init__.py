"""go-ycsb, YCSB's workloads in Go."""

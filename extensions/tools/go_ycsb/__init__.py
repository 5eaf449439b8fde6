"""Runs go-ycsb, which has YCSB's workloads in Go."""

"""Runs go-ycsb, a version of YCSB in Go."""

"""Imports YCSB's outputs, its raw latencies, and its histogram logs."""

"""YCSB's outputs."""

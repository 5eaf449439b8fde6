"""YCSB (Java)."""

"""YCSB, the original in Java."""

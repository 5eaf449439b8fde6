"""Runs YCSB, the original version in Java."""

"""Imports go-ycsb's output in its plain style."""

"""Snapshots of data by file systems and volume managers, one folder each."""

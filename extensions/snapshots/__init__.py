"""Snapshots of data by file systems and volume managers. Each folder holds one kind."""

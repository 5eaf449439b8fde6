"""Snapshots by ZFS."""

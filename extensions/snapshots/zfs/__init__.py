"""Snapshots with ZFS."""

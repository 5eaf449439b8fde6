"""Snapshots with LVM."""

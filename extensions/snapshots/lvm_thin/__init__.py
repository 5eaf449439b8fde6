"""Snapshots by LVM."""

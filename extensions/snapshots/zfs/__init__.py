"""Snapshots of a loaded database on a ZFS file system."""

"""Snapshots of a loaded database on a btrfs file system."""

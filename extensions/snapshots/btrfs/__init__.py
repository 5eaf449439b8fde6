"""Snapshots with btrfs."""

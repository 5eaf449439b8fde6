"""Snapshots by btrfs."""

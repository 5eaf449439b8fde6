"""Snapshots of a data directory by its file system: one mechanism for btrfs, ZFS and LVM."""

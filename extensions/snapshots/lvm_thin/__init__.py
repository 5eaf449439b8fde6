"""Snapshots of a loaded database on a thin logical volume of LVM."""

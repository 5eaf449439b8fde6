"""Probes: each folder holds one."""

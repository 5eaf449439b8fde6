"""Engines: each folder holds one."""

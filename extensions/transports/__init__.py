"""Transports: each folder holds one."""

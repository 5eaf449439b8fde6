"""Schedulers: each folder holds one."""

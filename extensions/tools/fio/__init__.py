"""Runs fio, the load generator for files and block devices."""

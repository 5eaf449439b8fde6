"""Imports db_bench's standard output."""

"""Imports fio's JSON output."""

"""Imports published figures from a CSV file."""

"""Imports HdrHistogram's interval logs."""

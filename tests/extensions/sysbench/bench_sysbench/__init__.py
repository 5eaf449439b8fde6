"""Imports sysbench's plain output."""

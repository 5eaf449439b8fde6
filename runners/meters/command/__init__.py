"""Reads commands that print watts."""

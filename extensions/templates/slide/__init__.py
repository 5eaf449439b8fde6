"""Slides: its layout and its style."""

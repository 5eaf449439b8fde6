"""Ending runs, and what they have left on hosts."""

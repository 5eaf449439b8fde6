"""Verdicts over measured points: expectations, promises, and what was asked of them."""

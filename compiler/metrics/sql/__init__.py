"""Typed expressions, lowered to SQL."""

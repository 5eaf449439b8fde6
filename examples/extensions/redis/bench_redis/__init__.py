"""Extends benchbrief with Redis."""

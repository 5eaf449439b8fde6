"""Extends benchbrief with SQLite."""

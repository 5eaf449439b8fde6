"""Importers, one folder each."""

"""Imports results that were measured elsewhere: published tables and tools' outputs. Each import is kept as a run."""

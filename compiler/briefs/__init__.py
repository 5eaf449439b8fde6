"""Compiles report blocks to the elements from which a brief is laid out."""

"""Compiles report blocks to the elements of a brief."""

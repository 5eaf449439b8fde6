"""Engines for systems under test: how to attach to, start, empty, check and describe them."""

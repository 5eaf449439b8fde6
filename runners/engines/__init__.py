"""Engines for systems under test, which attach to them, start, empty, check and describe them."""

"""Reads the text of a spec into a syntax tree, and writes its canonical layout. Also has the diagnostics."""

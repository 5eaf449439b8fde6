"""Parses a text into a syntax tree: the grammar, the parser, the nodes and their spans."""

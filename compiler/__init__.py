"""Syntax tree to checked model to plan."""

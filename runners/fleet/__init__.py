"""Lanes that are run by processes of their own, each in a folder of its own, and how these are merged into one run."""

"""Readers of each kind of block: they read the attributes of a block and check them."""

"""A database server's own counters."""

"""A probe for a database server's own counters."""

"""Power meters, and warnings about power."""

"""Power meters: each folder holds one."""

"""Load generators: each folder holds one."""

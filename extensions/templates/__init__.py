"""Templates of briefs: each folder holds one."""

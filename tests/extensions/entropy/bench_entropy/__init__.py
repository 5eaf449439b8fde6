"""A probe that samples how much entropy the kernel has for random numbers."""

"""The world that a run reaches: the real one, or a simulated one."""

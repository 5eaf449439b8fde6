"""Commands and detached jobs on hosts."""

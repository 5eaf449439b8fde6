"""Everything that a run reaches, real or simulated: its hosts, the software on them, and time."""

"""Shows a run on a terminal, while it goes on and when it ends."""

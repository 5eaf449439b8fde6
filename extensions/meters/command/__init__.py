"""Power from a command of the user's that prints watts."""

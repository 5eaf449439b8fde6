"""Power from a user's command that prints watts."""

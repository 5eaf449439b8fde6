"""A power meter that runs a user's command, which prints watts."""

"""A power meter that runs a user's command and reads the watts that it prints."""

"""A run's journal and folder, and the secrets that it keeps out of both."""

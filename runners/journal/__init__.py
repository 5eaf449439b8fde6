"""A run's journal and folder, and the secrets that are kept out of both."""

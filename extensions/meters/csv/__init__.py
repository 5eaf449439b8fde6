"""A power meter that reads the logs which meters write."""

"""A power meter that reads logs which meters write themselves."""

"""A power meter that reads logs written by meters themselves."""

"""Reads logs that meters write themselves."""

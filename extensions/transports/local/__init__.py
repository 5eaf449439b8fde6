"""Runs commands on the controller itself, for `hosts = local`."""

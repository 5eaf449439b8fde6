"""The common part of all power meters, and the probe that reads a host's meters."""

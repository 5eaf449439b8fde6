"""Drivers of load generators: which commands to run, and what the output proves. Each tool has a driver and a separate
parser."""

"""Drivers of load generators: the commands to run, and what the output proves. Each tool has a driver and a separate
parser."""

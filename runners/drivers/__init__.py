"""Drivers of load generators, which build their commands and judge their output. Each tool has a driver and a separate
parser."""

"""The load generators: their commands, and how their output is read."""

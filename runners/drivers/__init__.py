"""Load generators: what to run, and what the output proves. Each tool has a driver and a separate parser."""

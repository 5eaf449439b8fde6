"""Load generators: what to run, and what its output proves. Each tool has its driver and its parser apart."""

"""A power meter that reads the energy counters of CPU packages."""

"""Power from the energy counters of CPU packages."""

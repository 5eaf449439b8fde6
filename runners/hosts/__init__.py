"""The hosts of a run: connections, claims, clocks, facts and fitness."""

"""Statistics of any values: intervals, tests, fits, and change points."""

"""Statistics of values, wherever they come from: intervals, tests, fits, changes."""

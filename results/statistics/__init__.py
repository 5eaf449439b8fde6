"""Statistics that apply to any values: intervals, tests, fits, and change points."""

"""The steps of a run for the command line: measure, make tables, render briefs, and stop on a signal."""

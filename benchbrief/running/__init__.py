"""The steps of a run as the command line takes them: measure, make tables, render briefs, and stop on a signal."""

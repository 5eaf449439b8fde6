"""Builds the view of a report from its results: everything that a template may lay out, computed and escaped."""

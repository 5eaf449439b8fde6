"""The view of a report, built from its results: everything that a template may lay out, computed and escaped."""

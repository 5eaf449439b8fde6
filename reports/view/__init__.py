"""The view model: everything that a template may lay out, computed and escaped."""

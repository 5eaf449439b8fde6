"""Writes the brief as files to edit, from the view model of its pages."""

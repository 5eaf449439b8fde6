"""Writes the brief as editable files (documents, slides and workbooks), from the view model of its pages."""

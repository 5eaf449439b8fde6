"""Turns a run's store into a view model, and the view model into HTML and PDF."""

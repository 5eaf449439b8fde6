"""From a run's store to a view model, and to HTML and PDF."""

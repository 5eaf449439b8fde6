"""Turn a run's store into a view model, and that into HTML and PDF."""

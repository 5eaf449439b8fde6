"""Store to view model to HTML to PDF."""

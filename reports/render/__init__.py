"""Pages: HTML, PDF, templates, fonts and watermarks."""

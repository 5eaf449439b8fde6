"""Renders pages: HTML, PDF, templates, fonts and watermarks."""

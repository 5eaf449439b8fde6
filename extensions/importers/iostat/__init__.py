"""Imports iostat's reports, as text or JSON."""

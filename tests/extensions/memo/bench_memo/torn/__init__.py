"""A template with a mistake."""

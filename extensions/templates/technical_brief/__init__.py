"""A template for a few dense pages: a title band, the lead box beside the first text, and then the elements."""

"""Numbers and texts for readers, in each language."""

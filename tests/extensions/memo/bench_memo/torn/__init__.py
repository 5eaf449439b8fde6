"""A template with a mistake, which can't be used."""

"""The systems under test: how each is prepared, checked and described."""

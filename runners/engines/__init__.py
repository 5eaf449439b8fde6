"""Systems under test: reached or started, emptied, checked and described."""

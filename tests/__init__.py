"""The test suite. Its folders mirror the rooms."""

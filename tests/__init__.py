"""The test suite. Its folders mirror the folders of the code."""

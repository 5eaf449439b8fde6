"""A host's use of memory."""

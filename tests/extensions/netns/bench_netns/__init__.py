"""A transport that runs commands in network namespaces."""

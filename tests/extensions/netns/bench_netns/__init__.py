"""Network namespaces for benchbrief."""

"""Redis for benchbrief."""

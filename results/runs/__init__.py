"""Finding runs, summarising them, and reusing their results."""

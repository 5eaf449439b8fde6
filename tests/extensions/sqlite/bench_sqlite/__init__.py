"""SQLite for benchbrief."""

"""Plans as files, read and written in parts."""

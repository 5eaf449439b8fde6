"""Files and lines that build servers read."""

"""The static site of many runs, and pages of trends and comparisons."""

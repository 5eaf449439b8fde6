"""A static site of many runs: what is read of each, its pages, and the folder that they are kept in."""

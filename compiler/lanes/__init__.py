"""The lanes of a plan: the parts that can be run apart from each other."""

"""Statistics: tails, spread, significance, scalability, expectations."""

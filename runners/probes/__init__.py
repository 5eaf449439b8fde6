"""What is sampled beside a measurement."""

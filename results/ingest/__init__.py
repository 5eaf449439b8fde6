"""A run's directory to typed rows, by parsing its raw outputs again."""

"""What `bench trend` and `bench gate` print and write."""

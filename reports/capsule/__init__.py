"""The capsule of a brief: what it takes to measure the brief again, packed and read back."""

"""The capsule of a brief: everything needed to measure the brief again, packed into one file and read back."""

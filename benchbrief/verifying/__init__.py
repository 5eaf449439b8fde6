"""What `bench verify` tells of signatures, and of runs without a brief."""

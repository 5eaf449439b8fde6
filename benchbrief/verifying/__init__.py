"""What `bench verify` shows of signatures, and of runs without a brief."""

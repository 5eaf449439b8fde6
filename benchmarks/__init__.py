"""Benchmarks of our own speed, as ratios to something measured in the same run. `python -m benchmarks [name ...]` runs
them."""

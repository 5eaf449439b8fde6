"""Benchmarks of benchbrief itself. They compare its speed with something measured in the same run. `python -m
benchmarks [name ...]` runs them."""

"""Compares contenders and shows their differences, for `bench compare` and `bench plan --diff`."""

"""`bench compare` and `bench plan --diff`: compares contenders and shows their differences."""

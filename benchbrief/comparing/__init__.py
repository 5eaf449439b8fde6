"""`bench compare` and `bench plan --diff`: contenders and differences."""

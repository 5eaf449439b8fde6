"""The blocks of the language: which attributes each may have, and what shape their values have."""

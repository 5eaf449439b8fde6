"""How long a plan takes, what its time is spent on, and what would make it shorter."""

"""How cells get their data sets: which changes each reset takes, and what that means for a plan."""

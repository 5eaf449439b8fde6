"""Commands for a team's shared store."""

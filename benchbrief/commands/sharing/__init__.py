"""Commands for the store that a team shares."""

"""Commands that write, check and explain specs before anything runs."""

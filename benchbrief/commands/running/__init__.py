"""Commands for runs: to start, follow, continue and end them."""

"""Commands for specs: to write, check and explain them, before anything runs."""

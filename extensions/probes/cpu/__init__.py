"""How busy a host's processors are."""

"""SSH connections to hosts, always with a verified host key, and the commands run over them."""

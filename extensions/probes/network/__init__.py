"""What a host's network interfaces carry."""

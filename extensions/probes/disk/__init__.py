"""What a host's block devices do."""

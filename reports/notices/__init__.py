"""What limits the numbers of a brief."""

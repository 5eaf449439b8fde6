"""Two contenders, point by point."""

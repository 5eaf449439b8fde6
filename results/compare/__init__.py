"""Comparisons of two or more contenders, point by point."""

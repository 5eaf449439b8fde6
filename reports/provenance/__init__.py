"""The origin of each number, and whether it still holds."""

"""The suite; it mirrors the rooms."""

"""The white paper: its layout and its style."""

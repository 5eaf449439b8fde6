"""The technical brief: its layout and its style."""

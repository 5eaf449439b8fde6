"""The layout and style of slides."""

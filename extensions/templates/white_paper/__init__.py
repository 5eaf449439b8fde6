"""The layout and style of a white paper."""

"""The layout and style of a technical brief."""

"""The layout and style of a blog post."""

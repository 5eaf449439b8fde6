"""The blog post: its layout and its style."""

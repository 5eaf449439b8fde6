"""A template that lays out a brief as a blog post."""

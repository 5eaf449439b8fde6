"""Resuming and stopping runs, and reusing earlier results."""

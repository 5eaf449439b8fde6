"""Reusing results of earlier runs."""

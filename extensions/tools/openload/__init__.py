"""Runs openload, the project's own open-loop load generator."""

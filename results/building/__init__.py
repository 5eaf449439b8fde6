"""Builds the store of a run, opens it, and keeps the tables of a run in progress."""

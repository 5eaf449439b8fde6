"""Runs commands on hosts over SSH. Host keys are always verified."""

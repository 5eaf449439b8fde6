"""Estimates: how long a plan takes, how this time is spent, and which changes would shorten it."""

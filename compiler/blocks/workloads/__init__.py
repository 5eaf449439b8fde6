"""Workloads and the load generators that run them."""

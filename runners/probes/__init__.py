"""Probes: samplers that run beside the measurement."""

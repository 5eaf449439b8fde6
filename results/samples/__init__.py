"""The probes' samples inside the measured windows."""

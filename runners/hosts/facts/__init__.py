"""The facts of a host: what is observed, and where it contradicts the spec."""

"""The probe `memory`."""

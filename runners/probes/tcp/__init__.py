"""The probe `tcp`."""

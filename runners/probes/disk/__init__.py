"""The probe `disk`."""

"""The probe `network`."""

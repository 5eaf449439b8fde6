"""The probe `cpu`."""

"""The probe `entropy`."""

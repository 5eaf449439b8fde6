"""The probe `database`."""

"""The importer of ipmitool's readings of power."""

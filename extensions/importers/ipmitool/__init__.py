"""The importer of ipmitool's power readings."""

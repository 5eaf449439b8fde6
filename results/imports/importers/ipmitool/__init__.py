"""ipmitool's logs."""

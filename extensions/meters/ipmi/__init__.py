"""Power from BMCs, by ipmitool."""

"""Power from BMCs, read with ipmitool."""

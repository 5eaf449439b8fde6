"""A power meter that reads BMCs with ipmitool."""

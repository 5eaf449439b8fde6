"""Reads BMCs by ipmitool."""

"""Imports ipmitool's power readings."""

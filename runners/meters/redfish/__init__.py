"""Reads BMCs by Redfish."""

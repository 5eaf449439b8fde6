"""A power meter that reads BMCs by Redfish."""

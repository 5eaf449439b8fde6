"""A power meter that reads BMCs over Redfish."""

"""Power from BMCs, by Redfish."""

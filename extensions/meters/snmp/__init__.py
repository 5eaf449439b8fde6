"""A power meter that reads PDUs over SNMP."""

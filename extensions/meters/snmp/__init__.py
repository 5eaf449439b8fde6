"""A power meter that reads PDUs by SNMP."""

"""Power from PDUs, read by SNMP."""

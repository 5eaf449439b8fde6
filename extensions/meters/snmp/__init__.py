"""Power from PDUs, by SNMP."""

"""Reads PDUs by SNMP."""

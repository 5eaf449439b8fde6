"""Runs openload on RocksDB, which is a library in the openload process."""

"""openload on RocksDB, which is a library in openload's process."""

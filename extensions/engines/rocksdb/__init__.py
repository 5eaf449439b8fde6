"""An engine for RocksDB, which is a library in the load generator's process."""

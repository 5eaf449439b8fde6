"""RocksDB: a library in the load generator's process."""

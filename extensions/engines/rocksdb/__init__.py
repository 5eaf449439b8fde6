"""RocksDB: a library in the process of its load generator."""

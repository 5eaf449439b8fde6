"""openload on RocksDB: the library is in its process."""

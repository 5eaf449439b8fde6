"""RocksDB: a library that db_bench opens."""

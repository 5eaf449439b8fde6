"""Runs db_bench, RocksDB's load generator."""

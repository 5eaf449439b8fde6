"""The importer of db_bench's standard output."""

"""db_bench's outputs."""

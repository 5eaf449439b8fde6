"""PostgreSQL and pgbench for benchbrief."""

"""The store: Parquet tables, views and the DuckDB file over them."""

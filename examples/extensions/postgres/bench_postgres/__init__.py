"""Extends benchbrief with PostgreSQL and pgbench."""

"""Extends benchbrief with MariaDB and sysbench."""

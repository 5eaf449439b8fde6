"""MariaDB and sysbench for benchbrief."""

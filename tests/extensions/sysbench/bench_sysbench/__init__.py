"""The importer `sysbench`."""

"""The importer of go-ycsb's output in its plain style."""

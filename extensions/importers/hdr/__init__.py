"""The importer of HdrHistogram's interval logs."""

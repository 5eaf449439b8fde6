"""The importer of fio's JSON output."""

"""The importer of published figures in a CSV file."""

"""A declarative language for database and storage benchmarks."""

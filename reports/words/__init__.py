"""The fixed words of a brief, in one TOML file for each language, and each language's way of writing numbers."""

"""The fixed words of a brief, one TOML file a language, and how each language writes numbers."""

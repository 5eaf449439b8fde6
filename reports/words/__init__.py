"""The fixed words of a brief, in one TOML file for each language, and how each language writes numbers."""

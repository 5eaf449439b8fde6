"""The fixed words of a brief, one TOML file a language."""

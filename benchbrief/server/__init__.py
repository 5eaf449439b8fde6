"""The language server. It gives editors the diagnostics of `bench check` and information about names."""

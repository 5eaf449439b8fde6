"""The language server, which gives editors the same diagnostics as `bench check`, and the language's knowledge of
names."""

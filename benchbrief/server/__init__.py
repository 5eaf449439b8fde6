"""The language server: the same check as `bench check`, and what the language knows of names, for editors."""

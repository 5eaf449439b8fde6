"""The page itself, which all templates extend."""

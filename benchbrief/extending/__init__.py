"""What authors of extensions use: a package to begin with, and trials that say whether it conforms."""

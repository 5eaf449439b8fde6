"""Support for authors of extensions: a starter package, and trials that check whether an extension conforms."""

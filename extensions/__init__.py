"""Our own extensions, one folder each. They stand on the surface that those of other packages have."""

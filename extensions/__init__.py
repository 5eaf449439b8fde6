"""benchbrief's own extensions, one folder each. They use the same public interface as extensions of other packages."""

"""benchbrief's own extensions. They use the same public interface as extensions from other packages."""

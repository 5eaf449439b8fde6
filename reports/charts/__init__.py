"""Makes figures: their series, axes, layout, drawing and alternative texts."""

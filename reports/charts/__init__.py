"""Figures: their series, axes, layout, drawing and alternative texts."""

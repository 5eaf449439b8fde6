"""Figures: series, axes, layout, drawing and alternative texts."""

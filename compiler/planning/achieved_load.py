"""The limits within which an offered load counts as achieved, for curves and for single cells."""

from __future__ import annotations

KEEPS_UP = 0.95
"""A system keeps up with an offered load when it achieves this share of it. The rest is for the pace of the load
generator, which is never exact."""

CATCHES_UP = 1.05
"""A load generator above this share of its offered load worked off a backlog: its schedule began in the warm-up, or
a stall stopped it."""

"""What counts as keeping up with an offered load: one limit for curves and for single cells."""

from __future__ import annotations

KEEPS_UP = 0.95
"""A system keeps up with an offered load when it achieves this share of it. What is short of the whole leaves room for
the pace of a load generator, which is never quite the offered one."""

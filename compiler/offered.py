"""What counts as achieving an offered load, no less and no more: one limit for curves and for single cells."""

from __future__ import annotations

KEEPS_UP = 0.95
"""A system keeps up with an offered load when it achieves this share of it. What is short of the whole leaves room for
the pace of a load generator, which is never quite the offered one."""

CATCHES_UP = 1.05
"""A load generator that did more than this share of what it offered worked off what it owed from before: its schedule
began in the warm-up, or stood still in a stall."""

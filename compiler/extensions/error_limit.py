"""How many failed operations a measurement may have, for the drivers and the briefs."""

from __future__ import annotations

from benchbrief.compiler.extensions.registry import TOOL_SPECS


def stray_errors(driver: str) -> float:
    """Return the accepted share of failed operations of a tool where the spec allows none."""
    spec = TOOL_SPECS.usable(driver)
    return spec.stray_errors if spec else 0.0


def accepted_errors(declared: float, driver: str) -> float:
    """Return the share of operations that may fail. `declared` is what the spec allows; a plan can't distinguish
    `max_errors = 0 %` from a spec without it."""
    return declared or stray_errors(driver)

"""What every sampler prints: blocks with a moment each, as the probes' shell loops do (see `runners/probes`)."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable


def head(line: str) -> None:
    """What does not change."""
    print(line, flush=True)


def block(at: float, watts: Iterable[float | None], up: float | None = None) -> None:
    """One reading: the watts of each thing that is read, None where there were none. `up`: seconds since boot."""
    values = list(watts)
    print(f"= {at:.9f}{f' {up:.2f}' if up is not None else ''}")
    for number, each in enumerate(values):
        if len(values) > 1:
            print(f"@ {number}")
        if each is not None:
            print(f"{each:.6f}")
    print(".", flush=True)


def fail(text: str) -> None:
    """To standard error, on one line."""
    print(" ".join(text.split())[:500], file=sys.stderr, flush=True)


def number(value: object) -> float | None:
    """A number of watts as JSON or a text has it; None for what is none, or below zero."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) and found >= 0 else None

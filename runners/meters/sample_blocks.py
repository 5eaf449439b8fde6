"""The output format of our programs that read meters. The output consists of blocks, and each block begins with a time.
The shell loops of the probes print the same format (see `runners/sampling.py`)."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable


def head(line: str) -> None:
    """Print a header line before the first reading."""
    print(line, flush=True)


def block(at: float, watts: Iterable[float | None], up: float | None = None) -> None:
    """Print one reading: its time, and the watts of each point (or None). `up` is in seconds since boot."""
    values = list(watts)
    print(f"= {at:.9f}{f' {up:.2f}' if up is not None else ''}")
    for number, each in enumerate(values):
        if len(values) > 1:
            print(f"@ {number}")
        if each is not None:
            print(f"{each:.6f}")
    print(".", flush=True)


def fail(text: str) -> None:
    """Print an error to standard error, on one line."""
    print(" ".join(text.split())[:500], file=sys.stderr, flush=True)


def number(value: object) -> float | None:
    """Convert a value from JSON or text to a number. Returns None for anything else. The probe refuses negative watts
    later."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None

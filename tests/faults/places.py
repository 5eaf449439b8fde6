"""Compares the times of a run's samples with the times at which they were read, however busy the machine was."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

LATE_S = 0.3
"""How far a sample may be from its reading. Clock offsets are uncertain on a busy machine."""


def readings_of(run_dir: Path, *, since_boot: bool) -> list[float]:
    """Return the times of the only probe's readings, in seconds by its host's clock or since the host's boot."""
    (printed,) = run_dir.glob("raw/**/probe-*/stdout")
    found: list[tuple[str, str]] = re.findall(r"^= (\d+\.\d+) (\d+\.\d+)$", printed.read_text(), re.MULTILINE)
    return [float(up if since_boot else at) for at, up in found]


def start_of_window(readings: Sequence[float], times: Sequence[float]) -> float:
    """Return when the window started, by the readings' clock. `times` are the times of the samples, in seconds from the
    window's start.

    Fails unless the samples are consecutive readings, each at its own time. The last may be at the end of the window.
    """
    assert len(times) > 2
    inner = times[:-1]
    tried = [
        (max(abs(readings[first + n] - start - time) for n, time in enumerate(inner)), start)
        for first in range(len(readings) - len(inner) + 1)
        for start in [readings[first] - inner[0]]
    ]
    off, start = min(tried)
    assert off <= LATE_S, f"samples at {times} of readings at {readings}"
    return start


def covered(readings: Sequence[float], start: float, seconds: float, longest_s: float) -> float:
    """Return the share of the window that is between readings at most `longest_s` apart."""
    steps = ((max(a, start), min(b, start + seconds)) for a, b in pairwise(readings) if b - a <= longest_s)
    return sum(max(0.0, b - a) for a, b in steps) / seconds

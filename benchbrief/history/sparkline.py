"""A series as one line of blocks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean

_BLOCKS = "▁▂▃▄▅▆▇█"
_FLAT = 0.02
"""Values that lie closer together, as a share of their mean, are not stretched over the whole height."""


def sparkline(parts: Sequence[Sequence[float]], width: int) -> str:
    """Return the values as blocks on one scale, at most `width` of them, with a bar between parts.

    Neighbours that share a block stand at their mean. Finite values.
    """
    every = [value for part in parts for value in part]
    if not every:
        return ""
    low, high = min(every), max(every)
    middle = fmean(every)
    least = _FLAT * abs(middle)
    if high - low < least:
        low, high = middle - least / 2, middle + least / 2
    room = max(len(parts), width - len(parts) + 1)
    share = min(1.0, room / len(every))
    return "│".join(_drawn(part, max(1, int(len(part) * share)), low, high) for part in parts if part)


def _drawn(values: Sequence[float], width: int, low: float, high: float) -> str:
    ends = [round(place * len(values) / width) for place in range(width + 1)]
    means = [fmean(values[begin:end]) for begin, end in pairwise(ends) if end > begin]
    return "".join(_BLOCKS[_height(mean, low, high)] for mean in means)


def _height(value: float, low: float, high: float) -> int:
    return 3 if high <= low else min(7, max(0, int((value - low) / (high - low) * 8)))

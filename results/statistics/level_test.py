"""Whether the last values of a series left its level: the test behind an alarm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from benchbrief.runners.measurement.confidence_interval import LARGEST

LENGTHS = (1, 2, 3, 5, 7)
"""How many of the last values may be at another level. A change shows better the longer it lasts."""
FEWEST = 6
"""Values that a level takes: of fewer, the noise is hardly known."""


@dataclass(frozen=True)
class Departure:
    """The last `length` values are most unlike the `level` before them. `change` is the difference of the means.

    `p` is the one-sided p-value of Student's t test for the given direction, times the number of lengths tried.
    """

    length: int
    level: tuple[float, ...]
    change: float
    p: float


def departure(values: Sequence[float], start: int, direction: int) -> Departure | None:
    """Test the last values of a series against those before them, from `start` on. None where these are fewer than
    `FEWEST`, and where a value is no number.

    `direction` is 1 where a rise counts, -1 where a fall does, 0 for both.
    """
    tried = [length for length in LENGTHS if len(values) - length - start >= FEWEST]
    if not tried or not all(abs(value) <= LARGEST for value in values[start:]):
        return None
    best: Departure | None = None
    for length in tried:
        level, last = values[start : len(values) - length], values[len(values) - length :]
        p = min(1.0, p_of_shift(level, last, direction) * len(tried))
        if best is None or p < best.p:
            best = Departure(length, tuple(level), fmean(last) - fmean(level), p)
    return best


def p_of_shift(level: Sequence[float], last: Sequence[float], direction: int) -> float:
    """Return the p-value of Student's t test for equal means; one-sided for a `direction` of 1 or -1.

    1 where nothing is known of the noise: for fewer than three values or one that is no number, and where none varies
    but by rounding and the means are the same. 0 where none varies and the means differ.
    """
    from scipy.special import stdtr

    freedom = len(level) + len(last) - 2
    if freedom < 1 or not level or not last or not all(abs(x) <= LARGEST for x in (*level, *last)):
        return 1.0
    apart = fmean(last) - fmean(level)
    toward = abs(apart) if direction == 0 else apart * direction
    if toward <= 0:
        return 1.0
    square = (sum((x - fmean(level)) ** 2 for x in level) + sum((x - fmean(last)) ** 2 for x in last)) / freedom
    if square <= (1e-12 * max(abs(fmean(level)), abs(fmean(last)), 1e-300)) ** 2:
        return 0.0 if toward > 1e-9 * max(abs(fmean(level)), abs(fmean(last))) else 1.0
    tail = float(stdtr(freedom, -toward / (square * (1 / len(level) + 1 / len(last))) ** 0.5))
    return tail if direction else 2 * tail

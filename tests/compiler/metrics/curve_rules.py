"""The rules for curves in plain arithmetic on exact fractions. None is a missing value, or an unknown answer."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Values = Sequence[float | None]


def is_steady(tail: Sequence[float]) -> bool | None:
    """Apply SNIA's rule for a steady state: the range is within 20 % of the mean, and the fitted line rises by at most
    10 % of the mean."""
    y = [Fraction(value) for value in tail]
    n = len(y)
    mean = sum(y, Fraction(0)) / n
    if mean <= 0:
        return None
    middle = Fraction(n - 1, 2)
    squares = sum(((i - middle) * (i - middle) for i in range(n)), Fraction(0))
    slope = sum(((i - middle) * (v - mean) for i, v in enumerate(y)), Fraction(0)) / squares
    slack = Fraction(1, 10**9) + 1
    return max(y) - min(y) <= mean / 5 * slack and abs(slope) * (n - 1) <= mean / 10 * slack


def begins(values: Values, at: int) -> bool | None:
    """Return whether the steady state may begin at the phase with this index."""
    tail = values[at:]
    if len(tail) < 3:
        return False
    known = [value for value in tail if value is not None]
    return is_steady(known) if len(known) == len(tail) else None


def steady(values: Values) -> list[bool | None]:
    found: list[bool | None] = []
    for phase in range(len(values)):
        so_far = [begins(values, earlier) for earlier in range(phase + 1)]
        found.append(True if True in so_far else None if None in so_far else False)
    return found


def time_to_steady(values: Values, length: float) -> float | None:
    found = steady(values)
    return None if None in found or True not in found else found.index(True) * length


def knee(xs: Sequence[float], values: Values) -> float | None:
    if len(xs) < 3 or None in values:
        return None
    y = [Fraction(value) for value in values if value is not None]
    x = [Fraction(point) for point in xs]
    if max(y) == min(y):
        return None
    heights = [
        round((b - min(y)) / (max(y) - min(y)) - (a - min(x)) / (max(x) - min(x)), 9) for a, b in zip(x, y, strict=True)
    ]
    highest = heights.index(max(heights))
    return float(xs[highest]) if highest > 0 and heights[highest] > 0 else None


def saturation(targets: Sequence[float], values: Values, totals: Values, ratio: float) -> float | None:
    achieved = [value for value in values if value is not None]
    total = [value for value in totals if value is not None]
    if len(achieved) < len(values) or len(total) < len(totals):
        return None
    return max(achieved) if total[-1] < ratio * targets[-1] else None

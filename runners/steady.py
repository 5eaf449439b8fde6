"""Whether a throughput held still within the measured time, by the rule in `compiler/steady.py`, and by MSER-5.

SNIA's measurements are rounds of a minute, five of them in a row. Here they are fifths of the measured time: ranges of
single seconds grow with their number, so a long run would fail by the rule's first half for its length alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchbrief.compiler.steady import MOST_RANGE, MOST_TREND, ROUNDING
from benchbrief.runners.measurement import Interval
from benchbrief.runners.transient import transient

WARM_UP = "lengthen `warm_up`"
MEASURE = "measure for a longer time"

ROUNDS = 5

# The same words for every cell, so that a brief says them once.
_WARNING = (
    "Throughput was not steady within the measured time by SNIA's rule; measure for a longer time, or warm up longer"
)


@dataclass(frozen=True)
class Steadiness:
    """`range` of the rounds' throughputs and `trend` (the linear fit's excursion), as shares of their mean."""

    range: float
    trend: float

    @property
    def steady(self) -> bool:
        slack = 1 + ROUNDING
        return self.range <= MOST_RANGE * slack and self.trend <= MOST_TREND * slack

    @property
    def warnings(self) -> tuple[str, ...]:
        return () if self.steady else (_WARNING,)

    @property
    def properties(self) -> dict[str, str]:
        said = f"range {self.range:.1%}, trend {self.trend:.1%} of the mean of {ROUNDS} rounds"
        return {"steady state": f"{said} (SNIA allows {MOST_RANGE:.0%} and {MOST_TREND:.0%})"}


def steadiness(intervals: Sequence[Interval]) -> Steadiness | None:
    """None for fewer than five intervals that lasted, and where nothing was done."""
    intervals = [each for each in intervals if each.seconds > 0]
    if len(intervals) < ROUNDS:
        return None
    cuts = [round(i * len(intervals) / ROUNDS) for i in range(ROUNDS + 1)]
    rates = [_rate(intervals[a:b]) for a, b in pairwise(cuts)]
    mean = sum(rates) / ROUNDS
    if mean <= 0:
        return None
    middle = (ROUNDS - 1) / 2
    slope = sum((i - middle) * rate for i, rate in enumerate(rates)) / sum((i - middle) ** 2 for i in range(ROUNDS))
    return Steadiness((max(rates) - min(rates)) / mean, abs(slope) * (ROUNDS - 1) / mean)


def _rate(intervals: Sequence[Interval]) -> float:
    return sum(each.count for each in intervals) / sum(each.seconds for each in intervals)


def judged(intervals: Sequence[Interval], remedy: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """What both rules have to say of a measured window: warnings, and the numbers behind them.

    `remedy` is what helps against a transient at its beginning.
    """
    warnings: tuple[str, ...] = ()
    properties: dict[str, str] = {}
    if steady := steadiness(intervals):
        warnings, properties = steady.warnings, steady.properties
    if beginning := transient(intervals):
        warnings += (beginning.warning(remedy),) if beginning.noted else ()
        said = f"{beginning.seconds:.0f} s of {beginning.window_s:.0f} s" if beginning.noted else "none worth noting"
        properties |= {"transient": f"{said} (MSER-5)"}
    return warnings, properties

"""Whether throughput was steady within the measured time, by the rule in `steady_rule.py`, and by MSER-5.

SNIA's measurements are five consecutive rounds of a minute. Here they are fifths of the measured time: the range of
single seconds grows with their number, so a long run would fail the rule's first half merely for its length.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchbrief.compiler.messages.text import figure, share_figure
from benchbrief.compiler.planning.plan import Event
from benchbrief.compiler.planning.steady_rule import MOST_RANGE, MOST_TREND, ROUNDING
from benchbrief.runners.measurement.measurement import Interval
from benchbrief.runners.measurement.mser5 import find_transient
from benchbrief.runners.messages.run_messages import say

ROUNDS = 5


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
        return () if self.steady else (say.unsteady_snia(),)

    @property
    def properties(self) -> dict[str, str]:
        said = say.steady_numbers(
            spread=share_figure(self.range, 1),
            trend=share_figure(self.trend, 1),
            n=ROUNDS,
            most_range=share_figure(MOST_RANGE),
            most_trend=share_figure(MOST_TREND),
        )
        return {"steady state": said}


def steadiness(intervals: Sequence[Interval]) -> Steadiness | None:
    """Compute the steadiness. None for fewer than five intervals that lasted, and when nothing was done."""
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


def before_first(events: Sequence[Event], intervals: Sequence[Interval]) -> Sequence[Interval]:
    """Return the intervals that end before the first event of a measurement: what it does is no unsteadiness."""
    until_s = min((event.at_s for event in events), default=math.inf)
    return [each for each in intervals if each.start_s + each.seconds <= until_s]


def judge_window(
    intervals: Sequence[Interval], remedy: str, events: Sequence[Event] = ()
) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the findings of both rules on a measured window, as far as its first event: warnings, and the numbers
    behind them.

    `remedy` says what helps against a transient at the beginning.
    """
    intervals = before_first(events, intervals)
    warnings: tuple[str, ...] = ()
    properties: dict[str, str] = {}
    if steady := steadiness(intervals):
        warnings, properties = steady.warnings, steady.properties
    if beginning := find_transient(intervals):
        warnings += (beginning.warning(remedy),) if beginning.noted else ()
        seconds, window = figure(beginning.seconds, ".0f"), figure(beginning.window_s, ".0f")
        noted = beginning.noted
        properties |= {
            "transient": say.transient_seconds(seconds=seconds, window=window) if noted else say.transient_none()
        }
    return warnings, properties

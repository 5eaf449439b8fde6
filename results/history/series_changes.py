"""The changes of series: when, how much, how sure, whose, and what people said of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from benchbrief.results.history.change_verdicts import ChangeVerdict, verdict_on
from benchbrief.results.history.control_series import LabShare, lab_share
from benchbrief.results.history.read_series import Measured, Part, Series
from benchbrief.results.statistics.change_points import LEVEL, change_points
from benchbrief.results.statistics.significance import ratio_of_means


@dataclass(frozen=True)
class Change:
    """A change before the value at `index` of a part's known values. `before` and `after` are the means between the
    neighbouring changes, in the unit. `ratio` is after over before with its 95 % interval; None where before is not
    above 0. `p` is that of the t test. `worse` is None where the quantity does not say which way is better.
    """

    index: int
    last: Measured
    first: Measured
    before: float
    after: float
    ratio: float | None
    interval: tuple[float, float] | None
    p: float
    worse: bool | None
    lab: LabShare | None
    verdict: ChangeVerdict | None

    @property
    def is_noise(self) -> bool:
        return self.verdict is not None and self.verdict.verdict == "noise"


@dataclass(frozen=True)
class PartTrend:
    part: Part
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Trend:
    """A series with the changes in each of its parts, the oldest first."""

    series: Series
    parts: tuple[PartTrend, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(change for part in self.parts for change in part.changes)


def trend_of(
    series: Series,
    controls: Sequence[Series] = (),
    verdicts: Sequence[ChangeVerdict] = (),
    level: float = LEVEL,
) -> Trend:
    """Find the changes of a series, in each part alone."""
    parts = (PartTrend(part, _changes(series, part, controls, verdicts, level)) for part in series.parts)
    return Trend(series, tuple(parts))


def scaled(values: Sequence[float]) -> list[float]:
    """Return logarithms where all values are above 0, as noise is a share of the value; else the values."""
    return [math.log(value) for value in values] if min(values, default=0.0) > 0 else list(values)


def _changes(
    series: Series, part: Part, controls: Sequence[Series], verdicts: Sequence[ChangeVerdict], level: float
) -> tuple[Change, ...]:
    known = part.known
    values = [each.value for each in known if each.value is not None]
    found = change_points(scaled(values), level=level)
    ends = [0, *(each.index for each in found), len(values)]
    changes = []
    for low, each, high in zip(ends, found, ends[2:], strict=False):
        before, after = values[low : each.index], values[each.index : high]
        ratio = ratio_of_means(before, after) if min(before) > 0 else None
        interval = (ratio.low, ratio.high) if ratio and ratio.low is not None and ratio.high is not None else None
        if interval and min(values) > 0:  # taken for what can't be below 0, as by `scaled`
            interval = max(interval[0], 0.0), interval[1]
        rises = fmean(after) > fmean(before)
        changes.append(
            Change(
                each.index,
                known[each.index - 1],
                known[each.index],
                fmean(before),
                fmean(after),
                ratio.value if ratio else None,
                interval,
                each.p,
                None if series.better is None else rises == (series.better == "lower"),
                lab_share(series, known[low : each.index], known[each.index : high], controls),
                verdict_on(verdicts, series, known, each.index),
            )
        )
    return tuple(changes)

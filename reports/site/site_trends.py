"""The trends of a suite: each quantity at each point over its runs, with the changes inside what can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from benchbrief.results.analysis.change_points import change_points
from benchbrief.results.compare.comparison import Better, Point
from benchbrief.results.history.series_changes import scaled
from benchbrief.results.many_runs.kept_runs import RunValue, SiteRun

FIRST = ("throughput", "sustained")
"""Beside these, a trend is shown of the 99th percentiles and of the metrics of the spec."""


@dataclass(frozen=True)
class Change:
    """A change before the run at `index`. `ratio` is the mean after it over that before; None where that is not
    above 0. `worse` is None where the quantity does not say which way is better."""

    index: int
    before: float
    after: float
    ratio: float | None
    p: float
    worse: bool | None


@dataclass(frozen=True)
class TrendLine:
    """A quantity at a point over the runs that have it, the oldest first. None is a missing value.

    `parts` are the first places of stretches of one environment, definition and unit: no value is compared with one of
    another part.
    """

    quantity: str
    label: str
    unit: str
    better: Better
    point: Point
    runs: tuple[str, ...]
    times: tuple[float, ...]
    values: tuple[float | None, ...]
    parts: tuple[int, ...]
    changes: tuple[Change, ...]
    control: bool = False

    @property
    def current(self) -> Change | None:
        """Return the last change that the last value can be compared over."""
        return self.changes[-1] if self.changes and self.changes[-1].index >= self.parts[-1] else None


def is_shown(value: RunValue) -> bool:
    name = value.quantity
    return name in FIRST or name.startswith("latency.p99[") or not (name.startswith("latency.") or name == "errors")


def trend_lines(runs: Sequence[SiteRun], most: int) -> list[TrendLine]:
    """Return the lines of one suite, whose runs are in order of time; of more than `most` runs, of the last ones."""
    found: dict[tuple[str, Point], list[tuple[SiteRun, RunValue]]] = {}
    for run in runs:
        for value in run.values:
            if is_shown(value):
                found.setdefault((value.quantity, value.at), []).append((run, value))
    made = [
        _line(pairs[-most:]) for pairs in found.values() if any(value.value is not None for _, value in pairs[-most:])
    ]
    order = {name: place for place, name in enumerate(FIRST)}
    return sorted(made, key=lambda line: (order.get(line.quantity, len(order)), line.quantity))


def _line(pairs: Sequence[tuple[SiteRun, RunValue]]) -> TrendLine:
    last = pairs[-1][1]
    kinds = [(value.unit, value.definition, value.environment) for _, value in pairs]
    parts = [0, *(at for at, (one, other) in enumerate(pairwise(kinds), 1) if one != other)]
    values = tuple(value.value for _, value in pairs)
    changes: list[Change] = []
    for begin, end in zip(parts, [*parts[1:], len(values)], strict=True):
        changes += _changes(values, begin, end, last.better)
    return TrendLine(
        last.quantity,
        last.label,
        last.unit,
        last.better,
        last.at,
        tuple(run.id for run, _ in pairs),
        tuple(run.at for run, _ in pairs),
        values,
        tuple(parts),
        tuple(changes),
        last.control,
    )


def _changes(values: Sequence[float | None], begin: int, end: int, better: Better) -> list[Change]:
    places = [at for at in range(begin, end) if values[at] is not None]
    known = [value for at in places if (value := values[at]) is not None]
    found = change_points(scaled(known))
    ends = [0, *(each.index for each in found), len(known)]
    made = []
    for low, each, high in zip(ends, found, ends[2:], strict=False):
        before, after = fmean(known[low : each.index]), fmean(known[each.index : high])
        worse = None if better is None else (after > before) == (better == "lower")
        made.append(Change(places[each.index], before, after, after / before if before > 0 else None, each.p, worse))
    return made

"""The trends of a suite by the rules of `bench trend`. Each quantity at each point is shown over the suite's runs, with
its changes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.history.many_runs import RunValue, SiteRun, Suite, in_order, kept_series
from benchbrief.history.read_series import FoundSeries, HistorySeries, SeriesChoice, SeriesValue, read_series
from benchbrief.history.series_changes import Change, ChangeVerdict, trend_of
from benchbrief.model.points import PointKeys
from benchbrief.results.store_errors import ResultsError

FIRST = ("throughput", "sustained")
"""The quantities that are shown first. The 99th percentiles, the metrics of the spec, and any errors follow."""
ERRORS = "errors"


class TrendRules(NamedTuple):
    """The rules for trends. `across` are patterns of facts that do not separate environments, and `verdicts` are
    people's verdicts on changes."""

    across: tuple[str, ...] = ()
    verdicts: tuple[ChangeVerdict, ...] = ()


NO_RULES = TrendRules()


@dataclass(frozen=True)
class PlacedChange:
    """A change on a line. `index` is the index of the first value after it, or None if that value is earlier than those
    shown."""

    index: int | None
    change: Change
    unit: str


@dataclass(frozen=True)
class TrendLine:
    """A series over its last runs, the oldest first. All shown values have the same unit as the last one.

    `parts` are the first indices of the stretches that share one environment and definition. `current` is the last
    change in the part of the last value, unless somebody has declared that change to be noise.
    """

    series: HistorySeries
    unit: str
    values: tuple[SeriesValue, ...]
    parts: tuple[int, ...]
    changes: tuple[PlacedChange, ...]
    current: PlacedChange | None

    @property
    def point(self) -> PointKeys:
        return in_order(self.series.point)


class SuiteTrends(NamedTuple):
    """A suite's trend lines, and how many runs they leave out.

    `wrong_clocks` counts the runs that are left out entirely. `reused` counts the runs whose reused results are left
    out.
    """

    lines: tuple[TrendLine, ...] = ()
    wrong_clocks: int = 0
    reused: int = 0


def is_shown(value: RunValue) -> bool:
    name = value.quantity
    return name in FIRST or name.startswith("latency.p99[") or not (name.startswith("latency.") or name == ERRORS)


def suite_trends(runs: Sequence[SiteRun], most: int, rules: TrendRules) -> dict[Suite, SuiteTrends]:
    """Return the trends of each suite that has several runs. All runs are judged, but at most the last `most` runs are
    shown."""
    made: dict[Suite, SuiteTrends] = {}
    of_origin: dict[str, list[SiteRun]] = {}
    for run in runs:
        if run.values and not run.problem:
            of_origin.setdefault(run.origin, []).append(run)
    for origin, several in of_origin.items():
        with kept_series(several) as table:
            choice = SeriesChoice(origin=origin, across=rules.across)  # type: ignore[arg-type]  # one of the choices
            try:
                found = read_series(table, choice)
            except ResultsError:  # no run can be shown
                continue
        suites: dict[Suite, list[SiteRun]] = {}
        for run in several:
            suites.setdefault(run.suite, []).append(run)
        for suite, its in suites.items():
            if len(its) > 1:
                made[suite] = _trends(suite, {run.id for run in its}, found, most, rules)
    return made


def _trends(suite: Suite, runs: set[str], found: FoundSeries, most: int, rules: TrendRules) -> SuiteTrends:
    shown = [each for each in found.series if (each.spec, each.profile) == suite[:2] and _has_values(each)]
    order = {name: place for place, name in enumerate(FIRST)}
    shown.sort(key=lambda each: (order.get(each.quantity, len(order)), each.quantity))
    lines = tuple(_line(each, found.controls, most, rules.verdicts) for each in shown)
    return SuiteTrends(lines, len(runs.intersection(found.wrong_clocks)), len(runs.intersection(found.reused)))


def _has_values(series: HistorySeries) -> bool:
    known = [each.value for part in series.parts for each in part.known]
    return any(known) if series.quantity == ERRORS else bool(known)


def _line(
    series: HistorySeries, controls: Sequence[HistorySeries], most: int, verdicts: Sequence[ChangeVerdict]
) -> TrendLine:
    trend = trend_of(series, controls, verdicts)
    every = [(each, place) for place, part in enumerate(series.parts) for each in part.values]
    every.sort(key=lambda pair: (pair[0].at, pair[0].run_id))
    last = next(place for each, place in reversed(every) if each.value is not None)
    unit = series.parts[last].unit  # values of other units have no common scale
    drawn = [(each, place) for each, place in every if series.parts[place].unit == unit][-most:]
    index = {each.run_id: at for at, (each, _) in enumerate(drawn)}
    placed = {
        place: [PlacedChange(index.get(each.first.run_id), each, part.part.unit) for each in part.changes]
        for place, part in enumerate(trend.parts)
    }
    found = sorted((each for part in placed.values() for each in part), key=lambda each: each.change.first.at)
    parts = (0, *(at for at, ((_, one), (_, other)) in enumerate(pairwise(drawn), 1) if one != other))
    current = next((each for each in reversed(placed[last]) if not each.change.is_noise), None)
    return TrendLine(series, unit, tuple(each for each, _ in drawn), parts, tuple(found), current)

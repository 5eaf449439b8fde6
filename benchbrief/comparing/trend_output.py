"""Formats the output of `bench trend` for a terminal and as JSON. Also names the fields of the spec whose change broke
a series."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from benchbrief.compiler.explain.explain_diff import part_name, value_text
from benchbrief.compiler.planning.plan_diff import changed_parts, search_diffs
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.history.read_series import HistorySeries, SeriesPart, differences
from benchbrief.history.series_rows import CLAIM, PlacedCells, metrics_in
from benchbrief.history.site.site_texts import amount, changed_by, p_text, remarks, worth
from benchbrief.model.plan import Cell, Plan
from benchbrief.model.points import Curve
from benchbrief.results.compare.contender import definition_of
from benchbrief.results.statistics.change_points import LEAST
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal.run_folder import load_plan

if TYPE_CHECKING:
    from benchbrief.history.read_series import HistorySeries, SeriesPart
    from benchbrief.history.series_changes import Change, LabShare, Trend

_OWNERS = ("workload ", "database ")
_UNCOUNTED = {"path", "uri", "version", "package", "hooks", "start.binary", "start.router", "start.port"}
"""Settings that may change without breaking a series: a database's place, build and commands (see `series_rows.py`)."""


def name_redefinitions(series: Sequence[HistorySeries], folder: Path) -> tuple[HistorySeries, ...]:
    """Return the series. Each part whose definition differs from that of the part before gets a `redefined`, which
    names what changed."""

    @cache
    def plan_of(run_id: str) -> Plan | None:
        try:
            return load_plan(folder / run_id)
        except RunnerError:
            return None

    return tuple(replace(each, parts=tuple(_named(each, plan_of))) if each.parts[1:] else each for each in series)


def _named(series: HistorySeries, plan_of: Callable[[str], Plan | None]) -> Iterator[SeriesPart]:
    before: SeriesPart | None = None
    for part in series.parts:
        found: tuple[str, ...] = ()
        if before is not None and before.definition != part.definition:
            was, now = plan_of(before.values[-1].run_id), plan_of(part.values[0].run_id)
            if was and now:
                found = tuple(dict.fromkeys(_changed(series, was, now)))
        yield replace(part, redefined=found)
        before = part if part.known else before  # runs that gave nothing changed nothing


def _changed(series: HistorySeries, was: Plan, now: Plan) -> Iterator[str]:
    """Yield a text such as `workload a.records: 100,000 → 200,000` for each changed spec field that affects a
    series."""
    metrics = [metrics_in(plan).get(series.quantity) for plan in (was, now)]
    if all(metrics):
        ours, theirs = (definition_of(metric, plan) for metric, plan in zip(metrics, (was, now), strict=True) if metric)
        for name in dict.fromkeys((*ours, *theirs)):
            if ours.get(name) != theirs.get(name):
                of = f"claim {name.removeprefix(CLAIM)}" if name.startswith(CLAIM) else f"metric {name}"
                yield f"{of}: {ours.get(name, 'none')} → {theirs.get(name, 'none')}"
    point = tuple(series.point.items())
    old, new = (_cells(PlacedCells(plan).at(point, metric)) for plan, metric in zip((was, now), metrics, strict=True))
    for place, cell in new.items():
        for part in changed_parts(was, old[place], now, cell) if place in old else ():
            if part.owner.startswith(_OWNERS) and part.name not in _UNCOUNTED:
                yield f"{part_name(part)}: {value_text(part, part.before)} → {value_text(part, part.after)}"
    experiments = {cell.experiment for cell in new.values()}
    for search in search_diffs(was, now):
        for part in search.parts if search.experiment in experiments else ():
            changed = f"{value_text(part, part.before)} → {value_text(part, part.after)}"
            yield f"experiment {search.experiment}.{part_name(part)}: {changed}"


def _cells(cells: Iterator[Cell]) -> dict[Curve, Cell]:
    """Return one cell of each curve. The other cells of a curve are at other points of it, or are repeats."""
    found: dict[Curve, Cell] = {}
    for cell in cells:
        found.setdefault(Curve.of(cell), cell)
    return found


_BLOCKS = "▁▂▃▄▅▆▇█"
_FLAT = 0.02
"""If values differ by less than this share of their mean, the differences are not stretched over the whole height."""


def sparkline(parts: Sequence[Sequence[float]], width: int) -> str:
    """Draw the values as block characters on one scale, at most `width` of them, with a bar between parts.

    Neighbouring values that share a block are drawn at their mean. All values must be finite.
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


_COLOURS = {"worse": "red", "better": "green"}
_MOST_DIFFERENCES = 4
_MOST_POINTS = 3


def select_series(series: Sequence[HistorySeries], *, named: bool) -> tuple[list[HistorySeries], list[str]]:
    """Return the series that are worth showing, and notes about the others. If the user `named` quantities, all of
    their series are shown.

    Otherwise, series without any value are left out, and so are error series that are always 0.
    """
    shown: list[HistorySeries] = []
    left_out: Counter[str] = Counter()
    for each in series:
        values = [one.value for part in each.parts for one in part.known]
        if named or (any(values) if each.quantity == "errors" else values):
            shown.append(each)
        else:
            left_out[each.quantity if values else ""] += 1
    notes = []
    if of_errors := plural(left_out["errors"], "series", "series") if left_out["errors"] else "":
        notes.append(f"{of_errors} of errors that are 0 in every run: `bench trend errors --all` has them")
    if unknown := plural(left_out[""], "series", "series") if left_out[""] else "":
        notes.append(f"{unknown} in which no run has a value: `--json` has them")
    return shown, [f"left out: {note}" for note in notes]


def changed_series(trends: Sequence[Trend]) -> tuple[list[Trend], str]:
    """Return the series that changed, the latest change first, and a sentence about the others. It counts them, and
    explains why some can't be judged. Changes that were declared to be noise do not count."""
    changed = {id(trend): found for trend in trends if (found := [each for each in trend.changes if not each.is_noise])}
    shown = [trend for trend in trends if id(trend) in changed]
    shown.sort(key=lambda trend: max(change.first.at for change in changed[id(trend)]), reverse=True)
    why = Counter(_why_not_judged(trend) for trend in trends if id(trend) not in changed)
    steady = why.pop("", 0)
    said = f"{len(shown) or 'none'} of {len(trends)} series changed, {steady} did not"
    if why:
        said += f", {why.total()} can't be judged: " + ", ".join(
            f"{n} {_HAVE[n == 1]} {each}" for each, n in why.items()
        )
    return shown, f"{said} (`--all` shows all)" if len(shown) < len(trends) else said


_HAVE = ("have", "has")


def _why_not_judged(trend: Trend) -> str:
    """Return why too few runs are comparable with the last one to find a change, or "" if there are enough."""
    parts = [each.part for each in trend.parts if each.part.known]
    if not parts:
        return "no value in any run"
    last = max(parts, key=lambda part: part.known[-1].at)
    if len(last.known) >= 2 * LEAST:
        return ""
    since = " since the environment or definition changed" if len(parts) > 1 else ""
    return f"fewer than {2 * LEAST} runs{since}"


def trend_lines(trends: Sequence[Trend], columns: int) -> Iterator[tuple[str, str | None]]:
    """Yield lines that fit the columns, each with its colour or None."""
    for line, colour in _lines(trends, columns):
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        for part in wrap(line, columns, subsequent_indent=indent, break_on_hyphens=False) or [""]:
            yield part, colour


def _lines(trends: Sequence[Trend], columns: int) -> Iterator[tuple[str, str | None]]:
    groups: dict[tuple[str, str, str], list[Trend]] = {}
    for trend in trends:
        groups.setdefault((trend.series.spec, trend.series.profile, trend.series.quantity), []).append(trend)
    for (spec, profile, quantity), group in groups.items():
        label = f" {group[0].series.label!r}" if group[0].series.label else ""
        yield "", None
        yield f"{quantity}{label} of {spec}" + (f" (profile {profile})" if profile else ""), None
        unknown = []
        for trend in group:
            if any(part.part.known for part in trend.parts):
                yield from _series_lines(trend, columns)
            else:
                unknown.append(trend.series.at or "all")
        if unknown:
            more = f" and {len(unknown) - _MOST_POINTS} more" if len(unknown) > _MOST_POINTS else ""
            yield f"  no run has a value at {', '.join(unknown[:_MOST_POINTS])}{more}", None


def _series_lines(trend: Trend, columns: int) -> Iterator[tuple[str, str | None]]:
    series = trend.series
    known = [each for part in trend.parts for each in part.part.known]
    control = ", control" if series.control else ""
    last = max(known, key=lambda each: each.at)
    unit = next(part.part.unit for part in trend.parts if last in part.part.known)
    begin = min(each.at for each in known)
    missing = sum(each.value is None for part in trend.parts for each in part.part.values)
    gaps = f", {missing} without a value" if missing else ""
    value = last.doubt.mark + amount(last.value, unit) if last.value is not None else ""
    yield f"  {series.at or 'all'}{control}", None
    # Values of other units have no common scale.
    parts = [each for each in trend.parts if each.part.known]  # runs that gave nothing changed nothing
    drawn = [[each.value for each in part.part.known if each.value is not None] for part in parts]
    shown = drawn if len({part.part.unit for part in parts}) == 1 else [drawn[-1]]
    yield f"    {sparkline(shown, max(10, min(80, columns - 4)))}", None
    runs = plural(len(known), "run")
    if series.quantity.startswith(CLAIM):
        runs = f"held in {sum(each.doubt.decided for each in known)} of {runs}"
    yield f"    {value} last; {runs}{gaps}, {begin:%Y-%m-%d} to {last.at:%Y-%m-%d}", None
    for before, part in zip([None, *parts], parts, strict=False):
        if before is not None:
            yield from _new_part(before.part, part.part)
        for change in part.changes:
            colour = None if change.is_noise else _COLOURS.get(worth(change))
            when, levels = change_texts(change, part.part.unit)
            if len(when) + len(levels) + 6 <= columns:
                yield f"    {when}  {levels}", colour
            else:
                yield f"    {when}", colour
                yield f"      {levels}", colour
            for line in remarks(change):
                yield f"      {line}", None


def _new_part(before: SeriesPart, part: SeriesPart) -> Iterator[tuple[str, str | None]]:
    found = differences(before, part)
    more = len(found) - _MOST_DIFFERENCES
    yield f"    {part.values[0].at:%Y-%m-%d}  not compared with the runs before:", "yellow"
    for line in found[:_MOST_DIFFERENCES]:
        yield f"      {line}", None
    if more > 0:
        yield f"      and {more} more", None


def change_texts(change: Change, unit: str) -> tuple[str, str]:
    """Return two texts about a change: `2026-02-03  −5.1 % (−6.2 to −4.0)  worse, p < 0.0001` and `997.5 ops/s → 947.3
    ops/s`."""
    when = f"{change.first.at:%Y-%m-%d}  {changed_by(change, unit)}  {worth(change)}, {p_text(change.p)}"
    return when, f"{amount(change.before, unit)} → {amount(change.after, unit)}"


def as_dict(trends: Sequence[Trend], notes: Sequence[str]) -> dict[str, Any]:
    return {"series": [_series(trend) for trend in trends], "notes": list(notes)}


def _series(trend: Trend) -> dict[str, Any]:
    series = trend.series
    known = {name: getattr(series, name) for name in ("spec", "profile", "quantity", "label", "better", "control")}
    parts = [_part(trend, place) for place in range(len(trend.parts))]
    return {**known, "point": dict(series.point), "parts": parts}


def _part(trend: Trend, place: int) -> dict[str, Any]:
    part, changes = trend.parts[place].part, trend.parts[place].changes
    before = next((each.part for each in reversed(trend.parts[:place]) if each.part.known), None)  # as in the text
    return {
        **{name: getattr(part, name) for name in ("unit", "environment", "definition")},
        "differences": differences(before, part) if before else [],
        "values": [
            {"run": each.run_id, "at": each.at.isoformat(), "value": each.value, "reason": each.reason}
            | each.doubt._asdict()
            for each in part.values
        ],
        "changes": [_change(change) for change in changes],
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        **{name: getattr(change, name) for name in ("before", "after", "ratio", "interval", "p")},
        "at": change.first.at.isoformat(),
        "first": change.first.run_id,
        "last_before": change.last.run_id,
        "judged": worth(change),
        "lab": lab_dict(change.lab),
        "verdict": change.verdict.model_dump() if change.verdict else None,
    }


def lab_dict(lab: LabShare | None) -> dict[str, Any] | None:
    if lab is None:
        return None
    whose = "lab" if lab.is_lab else "in part" if lab.is_part else "not the lab"
    return {"whose": whose, "controls": lab.controls, "change": lab.change, "p": lab.p, "rest": lab.rest}

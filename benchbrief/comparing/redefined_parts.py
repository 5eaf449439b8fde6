"""Which fields of a spec set a part of a series apart from the part before: by the plans of the runs at the break.

A series file has the hash of a definition alone. The plans are in the folder of the runs; those of a shared store are
not on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from benchbrief.compiler.explain.explain_diff import part_name, value_text
from benchbrief.compiler.planning.plan_diff import changed_parts, search_diffs
from benchbrief.history.read_series import Part, Series
from benchbrief.history.series_rows import cells_at
from benchbrief.model.plan import Cell, Plan
from benchbrief.model.points import Curve
from benchbrief.results.compare.contender import definition_of
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.journal.run_folder import load_plan

_OWNERS = ("workload ", "database ")
_UNCOUNTED = {"path", "uri", "version", "package", "hooks", "start.binary", "start.router", "start.port"}
"""They define nothing: a series goes on where a database's place, build or commands differ (`series_rows.py`)."""


def name_redefinitions(series: Sequence[Series], folder: Path) -> tuple[Series, ...]:
    """Return the series with `redefined` of each part whose definition is another than that of the part before."""

    @cache
    def plan_of(run_id: str) -> Plan | None:
        try:
            return load_plan(folder / run_id)
        except RunnerError:
            return None

    return tuple(replace(each, parts=tuple(_named(each, plan_of))) if each.parts[1:] else each for each in series)


def _named(series: Series, plan_of: Callable[[str], Plan | None]) -> Iterator[Part]:
    before: Part | None = None
    for part in series.parts:
        found: tuple[str, ...] = ()
        if before is not None and before.definition != part.definition:
            was, now = plan_of(before.values[-1].run_id), plan_of(part.values[0].run_id)
            if was and now:
                found = tuple(dict.fromkeys(_changed(series, was, now)))
        yield replace(part, redefined=found)
        before = part if part.known else before  # runs that gave nothing changed nothing


def _changed(series: Series, was: Plan, now: Plan) -> Iterator[str]:
    """Yield `workload a.records: 100,000 → 200,000` for each changed field behind a series."""
    metrics = [next((each for each in plan.metrics if each.name == series.quantity), None) for plan in (was, now)]
    if all(metrics):
        ours, theirs = (definition_of(series.quantity, plan) for plan in (was, now))
        for name in dict.fromkeys((*ours, *theirs)):
            if ours.get(name) != theirs.get(name):
                yield f"metric {name}: {ours.get(name, 'none')} → {theirs.get(name, 'none')}"
    point = tuple(series.point.items())
    old, new = (_cells(cells_at(plan, point, metric)) for plan, metric in zip((was, now), metrics, strict=True))
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
    """Return a cell of each curve: but for the point, the others are as it is."""
    found: dict[Curve, Cell] = {}
    for cell in cells:
        found.setdefault(Curve.of(cell), cell)
    return found

"""Checks whether a run measured the same thing as a brief, by the settings of the cells behind each claim and
expectation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from benchbrief.compiler.plan_elsewhere import on_hosts
from benchbrief.model.fingerprint import digest, identity
from benchbrief.model.plan import Cell, Plan, Read
from benchbrief.model.points import Point
from benchbrief.results.analysis.reproduction import StatementName, Why
from benchbrief.results.compare.contender import Difference
from benchbrief.results.result_messages import shorten_digests

_OF_MACHINES = ("hosts", "load_hosts", "probes", "repeat", "threads", "target")
"""The parts of a cell's identity that are not compared, because they describe its machines, its probes or its point."""


def measured_otherwise(before: Plan, now: Plan, shown: Iterable[str] = ()) -> dict[StatementName, Why]:
    """Return the statements that can't be compared with a brief, and why: their cells have other settings, or they need
    power readings that this run lacks. If the profile or the parameters differ, the settings are meant to differ and
    are not compared. `shown` names metrics and measures to judge if there are no claims and expectations.
    """
    has_power = any(probe.name == "power" for cell in now.cells for probe in cell.probes)
    is_meant = (before.spec.profile, before.spec.params) != (now.spec.profile, now.spec.params)
    with suppress(ValueError):
        before = before if [*before.hosts] == [*now.hosts] else on_hosts(before, [*now.hosts])
    then, here = _points(before), _points(now)
    settings_then, settings_here = _settings_in(before), _settings_in(now)

    found: dict[StatementName, Why] = {}
    for name, reads in _read_by(before, shown):
        if any(read.probe == "power" for read in reads) and not has_power:
            found[name] = "unmetered"
        elif not is_meant:
            one = {point: settings_then(cell) for point, cell in then.items() if _is_read(before, reads, point)}
            other = {point: settings_here(cell) for point, cell in here.items() if _is_read(now, reads, point)}
            if one != other:
                found[name] = "altered"
    return found


def _read_by(plan: Plan, shown: Iterable[str]) -> Iterator[tuple[StatementName, Sequence[Read]]]:
    for claim in plan.claims:
        yield ("claim", claim.name), claim.points.reads or ()
    for expect in plan.expects:
        yield ("expect", expect.label or expect.text), [read for side in expect.sides for read in side.reads or ()]
    metrics = {metric.name: metric.query.reads or () for metric in plan.metrics}
    everywhere = (Read(measure="", view="throughput"),)
    for name in shown:
        yield ("number", name), metrics.get(name, everywhere)


def _points(plan: Plan) -> dict[Point, Cell]:
    return {Point.of(cell): cell for cell in plan.cells}


def _is_read(plan: Plan, reads: Iterable[Read], point: Point) -> bool:
    keys = {**dict.fromkeys(plan.factors), **point.keys}
    return any(read.covers(keys) for read in reads)


def _settings_in(plan: Plan) -> Callable[[Cell], str]:
    """Return a function that gives the digest of a cell's settings, ignoring its machines."""
    cells = {cell.id: cell for cell in plan.cells}

    @cache
    def of(name: str) -> str:
        parts = identity(plan, cells[name])
        return digest({key: each for key, each in parts.items() if key not in _OF_MACHINES})

    return lambda cell: of(cell.id)


def spec_differences(before: Plan, now: Plan) -> Iterator[Difference]:
    """Yield the differences between two specs and their packages: profile, parameters, texts of files, and versions."""
    one, other = before.spec, now.spec
    if one.profile != other.profile:
        yield Difference("profile", one.profile or "none", other.profile or "none")
    sides = (
        ("parameter", one.params, other.params),
        ("package of", before.extensions, now.extensions),
        ("text of", _by_name(one.files), _by_name(other.files)),
    )
    for what, first, second in sides:
        for name in dict.fromkeys((*first, *second)):
            if first.get(name) != second.get(name):
                values = first.get(name, ""), second.get(name, "")
                yield Difference(f"{what} {name}", *(shorten_digests(*values) if what == "text of" else values))


def _by_name(files: dict[str, str]) -> dict[str, str]:
    return {Path(name).name: text for name, text in files.items()}

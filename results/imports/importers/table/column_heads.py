"""The head of a table: for each column, its coordinate or measure, and its unit.

hardware, workload, threads, throughput (ops/s), latency.p99[read] (ms), power (W), efficiency.low (ops/s/W)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from benchbrief.compiler.measure_catalogue import KINDS, MeasureKind
from benchbrief.compiler.planning.plan import Metric, Plan
from benchbrief.compiler.units import (
    DIMENSIONLESS,
    Dimension,
    Unit,
    UnknownUnitError,
    base_unit,
    dimension_name,
    parse_unit,
)
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.results.imports.import_problems import Problem

Coordinate = Literal["experiment", "hardware", "workload", "threads", "target", "phase", "repeat", "operation", "node"]
COORDINATES: tuple[Coordinate, ...] = (
    "experiment",
    "hardware",
    "workload",
    "threads",
    "target",
    "phase",
    "repeat",
    "operation",
    "node",
)
NOTE = "note"
_HEAD = re.compile(r"([\w.]+)\s*(?:\[\s*([\w-]+)\s*\])?\s*(?:\(([^()]*)\))?")
_BOUNDS = (".low", ".high")
_PLAIN = ("x", "X")
"""The unit of a number without one: for a share, 1 is the whole."""


@dataclass(frozen=True)
class CoordinateColumn:
    name: Coordinate
    unit: Unit


@dataclass(frozen=True)
class NoteColumn:
    """A remark on a row, in words."""


@dataclass(frozen=True)
class MeasureColumn:
    kind: MeasureKind
    operation: str
    unit: Unit


@dataclass(frozen=True)
class MetricColumn:
    """A metric of the spec as the source states it: a value for comparison, not a measurement."""

    metric: Metric
    bound: Literal["value", "low", "high"]
    unit: Unit


Column = CoordinateColumn | NoteColumn | MeasureColumn | MetricColumn


class _Wrong(Protocol):
    def __call__(self, what: str, hint: str = "") -> Problem: ...


def read_head(text: str, plan: Plan, file: str, line: int) -> Column | Problem:
    """Return what a column holds, or what is wrong with its head."""

    def wrong(what: str, hint: str = "") -> Problem:
        return Problem(file, line, what, hint)

    match = _HEAD.fullmatch(text.strip())
    if match is None:
        return wrong(
            f"`{text}` is not the head of a column", "write a coordinate, or a measure with its unit: power (W)"
        )
    name, key, unit_text = match[1], match[2] or "", (match[3] or "").strip()
    try:
        unit = parse_unit("" if unit_text in _PLAIN else unit_text)
    except UnknownUnitError as error:
        return wrong(f"`{text}`: {error}", f"did you mean `{error.hint}`?" if error.hint else "")
    if name == NOTE or name in COORDINATES:
        return _coordinate(name, key, unit if unit_text else None, text, wrong)
    kind = KINDS.get(name)
    if kind is None:
        return _metric(name, key, unit if unit_text else None, text, plan, wrong)
    if kind.view == "errors":
        return wrong(f"`{text}`: a share of errors without the number of operations can't be kept")
    if not unit_text or unit.dimension != kind.unit:
        return _unit(text, name, kind.unit, base_unit(kind.unit), wrong)
    if key and kind.view not in ("throughput", "latency"):
        return wrong(f"`{text}`: {name} has no operations", "leave out what is in [ ]")
    operation = as_operation(key)
    known = tuple(dict.fromkeys(each for workload in plan.workloads.values() for each in workload.operations))
    if operation and operation not in known:
        return wrong(f"`{text}`: no workload has an operation `{key}`", nearest(operation, known))
    return MeasureColumn(kind, operation, unit)


def as_operation(text: str) -> str:
    """Convert `READ-MODIFY-WRITE` to our name."""
    return text.lower().replace("-", "_")


def nearest(text: str, known: Sequence[str]) -> str:
    """Return a hint with the known name nearest to an unknown one."""
    guess = did_you_mean(text, known)
    return f"did you mean `{guess}`?" if guess else f"there is {', '.join(known)}"


def _unit(text: str, name: str, dimension: Dimension, shown: str, wrong: _Wrong) -> Problem:
    """Return the problem of a column without its unit, or with a wrong one: a share, too, has two possible units."""
    if dimension != DIMENSIONLESS:
        return wrong(f"`{text}`: {name} is {dimension_name(dimension)}", f"name its unit, as in {name} ({shown})")
    hint = f"name its unit: {name} (%), or {name} (x) for a number that is not in %"
    return wrong(f"`{text}`: whether {name} is in % is not clear, or it is in another unit", hint)


def _coordinate(name: str, key: str, unit: Unit | None, text: str, wrong: _Wrong) -> Column | Problem:
    """Return a coordinate, or a note. `target` is in ops/s without a unit, as in a path."""
    standard = parse_unit("ops/s" if name == "target" else "")
    if key:
        return wrong(f"`{text}`: a column `{name}` has no operations", "leave out what is in [ ]")
    if unit is not None and (name != "target" or unit.dimension != standard.dimension):
        hint = "write target (ops/s)" if name == "target" else f"write {name}"
        return wrong(f"`{text}`: {name} has {'another' if name == 'target' else 'no'} unit", hint)
    for coordinate in COORDINATES:
        if name == coordinate:
            return CoordinateColumn(coordinate, unit or standard)
    return NoteColumn()


def _metric(name: str, key: str, unit: Unit | None, text: str, plan: Plan, wrong: _Wrong) -> Column | Problem:
    bound: Literal["value", "low", "high"] = "value"
    base = name
    if name.endswith(_BOUNDS):
        base, _, last = name.rpartition(".")
        bound = "low" if last == "low" else "high"
    metric = next((each for each in plan.metrics if each.name == base), None)
    if metric is None:
        guess = did_you_mean(base, (*COORDINATES, NOTE, *KINDS, *(each.name for each in plan.metrics)))
        hint = f"did you mean `{guess}`?" if guess else f"coordinates are {', '.join(COORDINATES)}"
        return wrong(f"`{base}` is neither a coordinate, nor a measure, nor a metric of the spec", hint)
    if key:
        hint = "say by the columns hardware, workload, threads and so on what a metric is of"
        return wrong(f"`{text}`: {base} is a metric, which takes nothing in [ ]", hint)
    expected = parse_unit(metric.query.unit).dimension
    if unit is None or unit.dimension != expected:
        return _unit(text, name, expected, metric.query.unit, wrong)
    return MetricColumn(metric, bound, unit)

"""The head of a table: which column is a coordinate, which a measure, and in which unit.

hardware, workload, threads, throughput (ops/s), latency.p99[read] (ms), power (W), efficiency.low (ops/s/W)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from benchbrief.compiler.metrics.measures import KINDS, MeasureKind
from benchbrief.compiler.plan import Metric, Plan
from benchbrief.compiler.units import Unit, UnknownUnitError, base_unit, dimension_name, parse_unit
from benchbrief.dsl.suggest import did_you_mean
from benchbrief.results.imports.problems import Problem

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


@dataclass(frozen=True)
class CoordinateColumn:
    name: Coordinate
    unit: Unit


@dataclass(frozen=True)
class NoteColumn:
    """What is to be known of a row, in words."""


@dataclass(frozen=True)
class MeasureColumn:
    kind: MeasureKind
    operation: str
    unit: Unit


@dataclass(frozen=True)
class MetricColumn:
    """A metric of the spec as the source tells it: a value to compare with, not a measurement."""

    metric: Metric
    bound: Literal["value", "low", "high"]
    unit: Unit


Column = CoordinateColumn | NoteColumn | MeasureColumn | MetricColumn


def read_head(text: str, plan: Plan, file: str, line: int) -> Column | Problem:
    """What a column holds, or what is wrong with its head."""

    def wrong(what: str, hint: str = "") -> Problem:
        return Problem(file, line, what, hint)

    match = _HEAD.fullmatch(text.strip())
    if match is None:
        return wrong(
            f"`{text}` is not the head of a column", "write a coordinate, or a measure with its unit: power (W)"
        )
    name, operation, unit_text = match[1], match[2] or "", (match[3] or "").strip()
    try:
        unit = parse_unit("" if unit_text in ("x", "X") else unit_text)
    except UnknownUnitError as error:
        return wrong(f"`{text}`: {error}", f"did you mean `{error.hint}`?" if error.hint else "")
    if name == NOTE:
        return NoteColumn()
    for coordinate in COORDINATES:
        if name == coordinate:
            return CoordinateColumn(coordinate, unit if unit_text or name != "target" else parse_unit("ops/s"))
    kind = KINDS.get(name)
    if kind is None:
        return _metric(name, unit, text, plan, wrong)
    if unit.dimension != kind.unit:
        meant = f"{name} ({base_unit(kind.unit) or '%'})"
        return wrong(f"`{text}`: {name} is {dimension_name(kind.unit)}", f"name its unit, as in {meant}")
    if operation and kind.view not in ("throughput", "latency"):
        return wrong(f"`{text}`: {name} has no operations", "leave out what is in [ ]")
    if kind.view == "errors":
        return wrong(f"`{text}`: a share of errors without the number of operations can't be kept")
    return MeasureColumn(kind, operation, unit)


def _metric(name: str, unit: Unit, text: str, plan: Plan, wrong: Callable[[str, str], Problem]) -> Column | Problem:
    bound: Literal["value", "low", "high"] = "value"
    base = name
    if name.endswith(_BOUNDS):
        base, _, last = name.rpartition(".")
        bound = "low" if last == "low" else "high"
    metric = next((each for each in plan.metrics if each.name == base), None)
    if metric is None:
        guess = did_you_mean(base, (*COORDINATES, *KINDS, *(each.name for each in plan.metrics)))
        hint = f"did you mean `{guess}`?" if guess else f"coordinates are {', '.join(COORDINATES)}"
        return wrong(f"`{base}` is neither a coordinate, nor a measure, nor a metric of the spec", hint)
    expected = parse_unit(metric.query.unit).dimension
    if unit.dimension != expected:
        hint = f"name its unit, as in {name} ({metric.query.unit})"
        return wrong(f"`{text}`: {base} is {dimension_name(expected)}", hint)
    return MetricColumn(metric, bound, unit)

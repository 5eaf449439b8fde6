"""How long a cell is measured: `measure`, or `phases`."""

from __future__ import annotations

import re

from benchbrief.compiler.blocks.experiments import experiment_errors
from benchbrief.compiler.blocks.values import structure_errors
from benchbrief.compiler.blocks.values.block_schema import EXPERIMENT
from benchbrief.compiler.blocks.values.block_values import Values
from benchbrief.compiler.blocks.values.shapes import Number
from benchbrief.compiler.blocks.values.values import Reader
from benchbrief.compiler.blocks.values.wrong_forms import described
from benchbrief.compiler.frontend.declarations import Entry
from benchbrief.dsl.syntax import ast

_PHASES = Number("", "6", plain=True, integer=True, minimum=1.0, maximum=1000.0)
_PHASE = Number("s", "6 x 10 min", above=True)
_TIMES = re.compile(r"([0-9]+)\s*[x*]\s*([0-9].*)")
_ANY_S = 60.0
"""Stands for a time with a mistake, which so hides no mistake of a report."""


def read_times(entry: Entry, values: Values, reader: Reader) -> tuple[float, int]:
    """Return the measured seconds of an experiment's cells and their number of phases."""
    series = values.series("phases")
    if series:
        return _phases(reader.deref(series[0]), reader)
    if not values.said("measure"):
        reader.findings.add(experiment_errors.NoMeasuredTime(entry.head, entry.name))
    return values.number("measure") or _ANY_S, 1


def _phases(expr: ast.Expr, reader: Reader) -> tuple[float, int]:
    if not isinstance(expr, ast.Binary) or expr.operator != "x":
        wanted, times = EXPERIMENT.keys["phases"].shape.wanted, _TIMES.fullmatch(expr.span.text)
        meant = f"{times[1]} x {times[2]}" if times else None
        reader.findings.add(structure_errors.WrongType(expr.span, "phases", wanted, described(expr), meant))
        return _ANY_S, 1
    count = reader.quantity("phases", expr.left, _PHASES)
    length = reader.quantity("phases", expr.right, _PHASE)
    if count is None or length is None:
        return _ANY_S, 1
    return count.value * length.value, int(count.value)

"""How long a cell is measured: `measure`, for a time or until it is steady, or `phases`."""

from __future__ import annotations

import re

from benchbrief.compiler.blocks import experiment_errors
from benchbrief.compiler.blocks.values import Constant, Reader, Values, described, named_arguments, wrong_value
from benchbrief.compiler.frontend import structure_errors
from benchbrief.compiler.frontend.declarations import Entry
from benchbrief.compiler.schemas.block_schema import EXPERIMENT
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan
from benchbrief.model.steadiness import MOST_WITHIN, SOONEST_S
from benchbrief.model.value_shapes import Number

STEADY_ARGUMENTS = ("within", "from", "to")
STEADY_USAGE = "`until_steady(within: 2 %, from: 2 min, to: 30 min)`"
_NEEDS = "needs `within:`, `from:` and `to:`"
_MEASURE = Number("s", "20 min", above=True)
_WITHIN = Number("", "2 %", plain=True, above=True, maximum=MOST_WITHIN)
_PHASES = Number("", "6", plain=True, integer=True, minimum=1.0, maximum=1000.0)
_PHASE = Number("s", "6 x 10 min", above=True)
_TIMES = re.compile(r"([0-9]+)\s*[x*]\s*([0-9].*)")
_ANY_S = 60.0
"""Stands for a time with a mistake, which so hides no mistake of a report."""


@dataclass(frozen=True)
class Times:
    """The measured seconds of an experiment's cells, the most of them `until` steady, and their number of phases.

    `rule` is the place of the whole `until_steady(...)`, also of a wrong one. `said` are the times as they are written,
    by the attribute or argument that says them.
    """

    measure_s: float = _ANY_S
    phases: int = 1
    until: plan.UntilSteady | None = None
    rule: Span | None = None
    said: tuple[tuple[str, Constant], ...] = ()


def read_times(entry: Entry, values: Values, reader: Reader) -> Times:
    if series := values.series("phases"):
        measure_s, phases = _phases(reader.deref(series[0]), reader)
        return Times(measure_s, phases)
    series = values.series("measure")
    if not series:
        if not values.said("measure"):
            reader.report(experiment_errors.NoMeasuredTime(entry.head, entry.name))
        return Times()
    match reader.deref(series[0]):
        case ast.Call(function=ast.Name(text="until_steady")) as call:
            return _until_steady(call, reader)
        case ast.Name(text="until_steady") as bare:
            reader.report(structure_errors.BadArgument(bare.span, bare.text, _NEEDS, STEADY_USAGE))
            return Times()
        case ast.Call() as other:
            wanted = EXPERIMENT.keys["measure"].shape.wanted
            reader.report(wrong_value(other, "measure", wanted, ("until_steady",)))
            return Times()
    seconds = reader.quantity("measure", series[0], _MEASURE)
    if seconds is None:
        return Times()
    return Times(seconds.value, said=(("measure", seconds),))


def _until_steady(call: ast.Call, reader: Reader) -> Times:
    wrong = Times(rule=call.span)
    named = named_arguments(call, STEADY_ARGUMENTS, reader)
    if named is None:
        return wrong
    if named.keys() != {*STEADY_ARGUMENTS} or len(named) != len(call.arguments):
        missing = [f"`{name}:`" for name in STEADY_ARGUMENTS if name not in named]
        why = f"needs {' and '.join(missing)}" if len(named) == len(call.arguments) else _NEEDS
        reader.report(structure_errors.BadArgument(call.span, "until_steady", why, STEADY_USAGE))
        return wrong
    within = reader.quantity("within", named["within"].value, _WITHIN)
    first, last = (reader.quantity(name, named[name].value, _MEASURE) for name in ("from", "to"))
    if within is None or first is None or last is None:
        return wrong
    if first.value < SOONEST_S:
        reader.report(experiment_errors.TooSoon(first.span, first.text, SOONEST_S))
        return wrong
    if last.value <= first.value:
        reader.report(experiment_errors.NoTimeToEnd(last.span, first.text, last.text))
        return wrong
    rule = plan.UntilSteady(within=within.value, from_s=first.value)
    return Times(last.value, 1, rule, call.span, (("from", first), ("to", last)))


def _phases(expr: ast.Expr, reader: Reader) -> tuple[float, int]:
    if not isinstance(expr, ast.Binary) or expr.operator != "x":
        wanted, times = EXPERIMENT.keys["phases"].shape.wanted, _TIMES.fullmatch(expr.span.text)
        meant = f"{times[1]} x {times[2]}" if times else None
        reader.report(structure_errors.WrongType(expr.span, "phases", wanted, described(expr), meant))
        return _ANY_S, 1
    count = reader.quantity("phases", expr.left, _PHASES)
    length = reader.quantity("phases", expr.right, _PHASE)
    if count is None or length is None:
        return _ANY_S, 1
    return count.value * length.value, int(count.value)

"""Reads how an offered load's operations are spaced: `poisson`, `steps(1k ops/s, 2k ops/s, lasting: 30 s)`,
`trace("arrivals.txt")`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, get_args

from benchbrief.compiler.blocks import experiment_errors as wrong
from benchbrief.compiler.blocks.measured_times import Times
from benchbrief.compiler.blocks.ramps import TARGET, read_points
from benchbrief.compiler.blocks.values import Constant, Reader, Values, named_arguments, read_spec_file, wrong_value
from benchbrief.compiler.frontend import structure_errors
from benchbrief.compiler.frontend.declarations import Entry
from benchbrief.compiler.registry import tools_able
from benchbrief.compiler.schemas import EXPERIMENT
from benchbrief.dsl.diagnostics.plain_amounts import duration, ticked
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model.engine_spec import EngineSpec
from benchbrief.model.plan import Arrivals, Spacing
from benchbrief.model.tool_spec import ARRIVALS, Bound, ToolSpec
from benchbrief.model.value_shapes import Number, Text

_TIMES: tuple[Bound, ...] = ("timeout", "give_up")
_QUEUED: tuple[Bound, ...] = ("queue", "drops", "lag", *_TIMES)
_BOUNDS: tuple[Bound, ...] = get_args(Bound)
SPACINGS = get_args(Spacing)
ARGUMENTS: Mapping[str, tuple[str, ...]] = {
    "constant": _QUEUED,
    "poisson": _QUEUED,
    "steps": ("lasting", "spacing", *_QUEUED),
    "burst": ("every", "lasting", "spacing", *_QUEUED),
    "trace": _QUEUED,
    "closed": ("stalls", *_TIMES),
}
_NEEDED = {"steps": ("lasting",), "burst": ("every", "lasting")}
_USAGE = {
    "constant": "`constant`, or `constant(queue: 1000, drops: 1 %)`",
    "poisson": "`poisson`, or `poisson(queue: 1000, drops: 1 %)`",
    "steps": "`steps(1k ops/s, 2k ops/s, 4k ops/s, lasting: 30 s)`",
    "burst": "`burst(5k ops/s, every: 30 s, lasting: 2 s)`",
    "trace": '`trace("arrivals.txt")`',
    "closed": "`closed`, or `closed(timeout: 2 s)`",
}
_TAKES = {
    "constant": f"takes nothing but {ticked(_QUEUED)}",
    "poisson": f"takes nothing but {ticked(_QUEUED)}",
    "steps": "takes its rates, and `lasting:` for how long each is offered",
    "burst": "takes the rate of its bursts, `every:` and `lasting:`",
    "trace": "takes the name of one file",
    "closed": f"takes nothing but {ticked(ARGUMENTS['closed'])}",
}
_SHAPES = {
    "every": Number("s", "30 s", above=True, maximum=86400.0),
    "lasting": Number("s", "2 s", above=True, maximum=86400.0),
    "queue": Number("", "1000", plain=True, integer=True, minimum=1.0, maximum=5e6),
    "drops": Number("", "1 %", plain=True, maximum=1.0),
    "lag": Number("", "10 %", plain=True, above=True, maximum=1.0),
    "stalls": Number("", "8 %", plain=True, maximum=1.0),
    "timeout": Number("s", "2 s", minimum=0.001, maximum=3600.0),
    "give_up": Number("s", "1 min", minimum=0.1, maximum=86400.0),
}

_FIELDS = {"timeout": "timeout_s", "give_up": "give_up_s"}
"""Maps arguments to fields of `Arrivals`. Arguments with the same name as their field are left out."""

_HOLE_S = 10.0
"""The number of seconds without arrivals that counts as a gap in a trace. The trace tool has the same default
(`--trace-gap`)."""


@dataclass(frozen=True)
class DeclaredArrivals:
    """The declared arrivals and their place in the spec. `bounds` maps each bound's name to its place."""

    arrivals: Arrivals
    span: Span
    bounds: Mapping[Bound, Span] = field(default_factory=dict)
    last: tuple[int, float] = (0, 0.0)
    """The number of a trace's last line, and the due time in that line, in seconds."""


def read_arrivals(entry: Entry, values: Values, reader: Reader) -> DeclaredArrivals | None:
    """Return the declared arrivals, or None if the spec declares none or declares them wrongly."""
    series = values.series("arrivals")
    if not series:
        return None
    expr = reader.deref(series[0])
    match expr:
        case ast.Name(text=("constant" | "poisson" | "closed") as kind):
            said: DeclaredArrivals | None = DeclaredArrivals(Arrivals(kind=kind), expr.span)
        case ast.Call(function=ast.Name(text=kind)) if kind in ARRIVALS:
            said = _called(kind, expr, reader)
        case ast.Name(text=kind) if kind in ARRIVALS:
            return reader.refuse(structure_errors.BadArgument(expr.span, kind, _TAKES[kind], _USAGE[kind]))
        case _:
            return reader.refuse(wrong_value(expr, "arrivals", EXPERIMENT.keys["arrivals"].shape.wanted, ARRIVALS))
    if said is None:
        return None
    kind = said.arrivals.kind
    needs_target = kind != "closed" and not said.arrivals.own_rates
    if values.said("target") and not needs_target:
        reader.report(wrong.ArrivalsBesideTarget(values.span("target"), kind, entry.name))
    elif needs_target and not values.said("target"):
        reader.report(wrong.ArrivalsWithoutTarget(said.span, kind, entry.name))
    return said


def times_of(said: DeclaredArrivals | None, entry: Entry, values: Values, reader: Reader) -> Times | None:
    """If operations arrive by `steps`, return the measured times, with each step as a phase. Return None for other
    arrivals."""
    if said is None and values.said("arrivals") and not (values.said("measure") or values.said("phases")):
        return Times()  # the mistake may hide the time
    if said is None or said.arrivals.kind != "steps":
        return None
    steps = said.arrivals
    count, whole = len(steps.rates), len(steps.rates) * steps.each_s
    for key in ("measure", "phases"):
        if values.said(key):
            times = count, duration(steps.each_s), duration(whole)
            reader.report(wrong.TimesOfSteps(values.span(key), entry.name, key, *times))
    return Times(whole, count)


def check_arrivals(
    said: DeclaredArrivals | None, tool: ToolSpec, engine: EngineSpec, times: tuple[Values, float], reader: Reader
) -> Arrivals | None:
    """Return the declared arrivals, or None if the tool's usual ones apply. Report arrivals that the tool can't offer.

    `times` has the attributes that may set a warm-up, and the measured seconds.
    """
    if said is None:
        return None
    arrivals = said.arrivals
    lasts_s = times[1] + (times[0].number("warm_up") or 0.0)
    if arrivals.kind == "trace" and said.last[1] + _HOLE_S < lasts_s:
        line, at = said.last
        why = f"is the last one, at {at:g} s, and the experiment needs {lasts_s:g} s"
        shorter = f"measure for at most {at:g} s with the warm-up, or record a longer trace"
        reader.report(wrong.BadTrace(said.span, arrivals.file, line, why, shorter))
    if arrivals.kind not in (*tool.arrivals, "closed"):
        instead = tools_able(engine, lambda each: arrivals.kind in each.arrivals)
        return reader.refuse(wrong.ArrivalsNotOfTool(said.span, tool.word, arrivals.kind, tool.arrivals, instead))
    for key, span in said.bounds.items():
        if key not in tool.bounds:
            reader.report(wrong.BoundNotOfTool(span, tool.word, key))
    usual = "closed" if arrivals.kind == "closed" else tool.arrivals[0]
    return None if arrivals == Arrivals(kind=usual) else arrivals


def _called(kind: str, call: ast.Call, reader: Reader) -> DeclaredArrivals | None:
    named = _arguments(kind, call, reader)
    if named is None:
        return None
    rates = [argument.value for argument in call.arguments if argument.key is None]
    numbers: dict[str, Constant | None] = {
        name: reader.quantity(name, argument.value, _SHAPES[name])
        for name, argument in named.items()
        if name in _SHAPES
    }
    spacing = _spacing(named["spacing"], reader) if "spacing" in named else "poisson"
    points: Sequence[tuple[float, Span]] | None = ()
    if kind == "steps":
        points = read_points("steps", rates[0] if len(rates) == 1 else ast.List(call.span, tuple(rates)), reader)
    if None in numbers.values() or spacing is None or points is None:
        return None
    at = {name: number.value for name, number in numbers.items() if number}
    bounds = {_FIELDS.get(name, name): at[name] for name in _BOUNDS if name in at}
    if "queue" in at:
        bounds["queue"] = int(at["queue"])
    last = (0, 0.0)
    own: dict[str, Any] | None
    match kind:
        case "steps" if points:
            own = {"spacing": spacing, "rates": tuple(point for point, _ in points), "each_s": at["lasting"]}
        case "steps":
            return reader.refuse(structure_errors.BadArgument(call.span, kind, _TAKES[kind], _USAGE[kind]))
        case "burst":
            own = _burst(rates[0], named["lasting"].span, at, reader)
            own = own and {"spacing": spacing, **own}
        case "trace":
            own, last = _trace(rates[0], reader) or (None, last)
        case _:
            own = {}
    if own is None:
        return None
    spans = {name: named[name].span for name in _BOUNDS if name in named}
    return DeclaredArrivals(Arrivals(**{"kind": kind, **bounds, **own}), call.span, spans, last)


def _burst(given: ast.Expr, lasting: Span, at: Mapping[str, float], reader: Reader) -> dict[str, object] | None:
    rate = reader.quantity("burst", given, TARGET)
    if rate is None:
        return None
    if at["lasting"] >= at["every"]:
        return reader.refuse(wrong.LongBursts(lasting, duration(at["lasting"]), duration(at["every"])))
    return {"burst_rate": rate.value, "every_s": at["every"], "lasting_s": at["lasting"]}


def _arguments(kind: str, call: ast.Call, reader: Reader) -> dict[str, ast.Argument] | None:
    """Return the named arguments, or None after a mistake."""
    named = named_arguments(call, ARGUMENTS[kind], reader)
    if named is None:
        return None
    plain = len(call.arguments) - len(named)
    fits = {"steps": plain >= 1, "burst": plain == 1, "trace": plain == 1}.get(kind, plain == 0)
    if not fits or not {*_NEEDED.get(kind, ())} <= named.keys():
        return reader.refuse(structure_errors.BadArgument(call.span, kind, _TAKES[kind], _USAGE[kind]))
    return named


def _spacing(argument: ast.Argument, reader: Reader) -> str | None:
    match argument.value:
        case ast.Name(text=word) if word in SPACINGS:
            return word
        case other:
            wanted = " or ".join(f"`{word}`" for word in SPACINGS)
            return reader.refuse(wrong_value(other, "spacing", wanted, SPACINGS))


def _trace(expr: ast.Expr, reader: Reader) -> tuple[dict[str, object], tuple[int, float]] | None:
    """Return the text of a trace file with its name, and the number and time of its last line. Report a file that is
    not a trace."""
    file = reader.value("trace", expr, Text())
    if not isinstance(file, str):
        return None
    text = read_spec_file("trace", file, expr.span, reader.findings)
    if text is None:
        return None
    before, due, last = 0.0, 0, 1
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            at = float(line)
        except ValueError:
            at = math.nan
        why = "" if math.isfinite(at) and at >= 0 else f"is not a time: `{line.strip()[:40]}`"
        if not why and at < before:
            why = f"is {at:g} s, and the one before is {before:g} s"
        if not why and at - before > _HOLE_S:
            why = f"is {at:g} s: nothing is due for {at - before:g} s before it, which is a gap in the recording"
        if why:
            return reader.refuse(wrong.BadTrace(expr.span, file, number, why))
        before, due, last = at, due + 1, number
    if not due:
        return reader.refuse(wrong.BadTrace(expr.span, file, 1, "ends without a due time"))
    return {"trace": text, "file": file}, (last, before)

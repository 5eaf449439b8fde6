"""Reads the points of an experiment: ramps, searches for a knee or a highest rate, and references to another
experiment's knee.

A ramp such as `[1, 2, 4]`, `1..16` or `range(1, 64, factor: 2)` is counted before its points are made.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from math import ceil
from typing import Literal

from benchbrief.compiler.blocks import experiment_errors
from benchbrief.compiler.blocks import experiment_errors as wrong
from benchbrief.compiler.blocks.values import Constant, Reader, Values, described, named_arguments, wrong_value
from benchbrief.compiler.blocks.workloads import ReadWorkload
from benchbrief.compiler.frontend import name_errors, structure_errors, value_errors
from benchbrief.compiler.measure_catalogue import STATISTICS
from benchbrief.compiler.metrics.metric_errors import FewBeyond, NeedsOperation
from benchbrief.compiler.registry import tools_from_due
from benchbrief.compiler.schemas import EXPERIMENT
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan
from benchbrief.model.achieved_load import Schedule
from benchbrief.model.engine_spec import EngineSpec
from benchbrief.model.precision import are_few, share_beyond
from benchbrief.model.rate_search import LEAD, candidates, lengths
from benchbrief.model.tool_spec import ToolSpec
from benchbrief.model.units import parse_unit
from benchbrief.model.value_shapes import Number

JUDGED, HELD_OUT = 5, 3
"""How many repeats may decide on a rate, and how many confirm the rate found, unless the spec says otherwise."""
MOST_CANDIDATES = 2000
HIGHEST_ARGUMENTS = ("where", "within", "held_out")
USAGE = "`highest(1k ops/s..200k ops/s, where: latency.p99[read] < 5 ms, within: 3 %)`"
_WITHIN = Number("", "3 %", plain=True, above=True, maximum=0.5)
_HELD_OUT = Number("", "3", plain=True, integer=True, minimum=1.0, maximum=100.0)
_LATENCY = Number("s", "5 ms", above=True)
_ERRORS = Number("", "0.1 %", plain=True, maximum=1.0)
_WRITTEN_IN_PERCENT = 0.01
"""A share of errors of at least this size was probably meant as a percentage if it is written without `%`."""


@dataclass(frozen=True)
class DeclaredPromise:
    """A promise as written in the spec. `operations` are the operations in its limits, each with its place."""

    limits: tuple[plan.PromiseLimit, ...]
    within: float
    held_out: int
    operations: tuple[tuple[str, Span], ...]
    span: Span


def read_highest(
    key: str, call: ast.Call, shape: Number, reader: Reader
) -> tuple[tuple[float, ...], DeclaredPromise] | None:
    """Return the candidates and the promise, or None after a mistake, which is reported."""
    if key != "target":
        return reader.refuse(wrong.HighestOfThreads(call.span))
    named = _search_arguments(call, reader)
    if named is None:
        return None
    ends = call.arguments[0].value
    if not isinstance(ends, ast.Binary):  # `_search_arguments` has checked this
        return None
    limits = tuple(_Limits(reader).of(named["where"]))
    first, last = (reader.quantity(key, end, shape) for end in (ends.left, ends.right))
    within = reader.quantity("within", named["within"], _WITHIN)
    held_out = reader.quantity("held_out", named["held_out"], _HELD_OUT) if "held_out" in named else None
    if not limits or None in limits or first is None or last is None or within is None:
        return None
    if "held_out" in named and held_out is None:
        return None
    if last.value <= first.value:
        same = last.value == first.value
        why = f"both ends are {first.value:g}" if same else f"they run from {first.value:g} down to {last.value:g}"
        return reader.refuse(
            value_errors.EmptyRamp(ends.span, key, why, "the smaller number first", "these rates", "have")
        )
    if first.value * within.value < 2:  # the rates are whole, and the next but one is to be within it
        lowest = ceil(2 / within.value)
        return reader.refuse(wrong.RatesTooNear(named["within"].span, within.text, first.value, lowest))
    found = candidates(first.value, last.value, within.value)
    if len(found) > MOST_CANDIDATES:
        apart = f"{50 * within.value:g} %"
        return reader.refuse(wrong.TooManyRates(named["within"].span, len(found), apart, MOST_CANDIDATES))
    good = [limit for limit in limits if limit is not None]
    operations = tuple((limit.operation, span) for limit, span in good if limit.operation)
    count = int(held_out.value) if held_out else HELD_OUT
    return found, DeclaredPromise(tuple(limit for limit, _ in good), within.value, count, operations, call.span)


def plan_promise(promised: DeclaredPromise, rates: tuple[float, ...], repeats: int) -> plan.Promise:
    """Return the promise for the plan. `repeats` counts all repeats at one rate, including those held out for the
    end."""
    judged = repeats - promised.held_out
    usual, most = lengths(rates, judged, promised.held_out)
    return plan.Promise(
        limits=promised.limits,
        within=promised.within,
        judged=judged,
        held_out=promised.held_out,
        usual=usual,
        most=most,
    )


def errors_allowed(said: float | None, promised: DeclaredPromise | None) -> float:
    """Return the share of operations that may fail, from the spec or else from the promise."""
    allowed = [limit.most for limit in (promised.limits if promised else ()) if limit.measure == "errors"]
    return said if said is not None else min(allowed, default=0.0)


def judging_repeats(values: Values, repeats: int, order: str, reader: Reader) -> int:
    """Return the largest number of repeats that may decide on a rate. Report other rules for repeats, and too few
    repeats."""
    if values.said("budget"):
        instead = "remove `budget`, and measure for a shorter time; `bench run --budget` is for the whole run"
        reader.report(wrong.RuleBesidePromise(values.span("budget"), "budget", instead))
    if not values.said("repeats"):
        return JUDGED
    span = values.span("repeats")
    if any(isinstance(part, ast.Call) for part in map(reader.deref, values.series("repeats"))) or order == "random":
        what = "random" if order == "random" else "confident"
        instead = "write `repeats = 5`: as many are measured at most, and only at the edge"
        reader.report(wrong.RuleBesidePromise(span, what, instead))
    elif repeats < LEAD:
        reader.report(wrong.TooFewJudging(span, repeats, LEAD))
    return max(repeats, LEAD)


def check_promise(
    promised: DeclaredPromise,
    loads: Iterable[ReadWorkload],
    tool: ToolSpec,
    engine: EngineSpec,
    lowest: tuple[Schedule, float, float],
    reader: Reader,
) -> None:
    """Report a promise that can't be judged.

    It can't be judged if no workload performs its operation, if too few operations lie beyond its percentile (at the
    `lowest` rate, in the measured seconds), or if the tool does not know when operations were due.
    """
    for operation, span in promised.operations:
        for load in loads:
            if operation not in load.operations:
                known = tuple(load.operations)
                reader.report(wrong.OperationNotDone(span, operation, load.workload.name, known))
    schedule, rate, seconds = lowest
    due = schedule.due(rate, 0.0, seconds)
    limits = [limit for limit in promised.limits if limit.operation]
    for limit, (operation, span) in zip(limits, promised.operations, strict=True):
        beyond = share_beyond(limit.statistic)
        for load in loads if beyond is not None else ():
            share = load.family.operation_shares(load.workload.properties).get(operation, 0.0)
            if share and beyond and are_few(due * share * beyond):
                measure = limit.text.partition(" <")[0]
                found = (measure, load.workload.name, limit.statistic, due / seconds, share, seconds)
                reader.report(FewBeyond(span, *found, even=schedule.is_even))
    if promised.operations and tool.open_loop and not tool.intended_latency:
        reader.report(wrong.ServicePromise(promised.span, tool.word, tools_from_due(engine)))


def _search_arguments(call: ast.Call, reader: Reader) -> dict[str, ast.Expr] | None:
    named = named_arguments(call, HIGHEST_ARGUMENTS, reader)
    if named is None:
        return None
    match call.arguments:
        case [ast.Argument(key=None, value=ast.Binary(operator="..")), *rest] if {"where", "within"} <= named.keys():
            if len(rest) == len(named):
                return {name: argument.value for name, argument in named.items()}
    why = "takes two ends, `where:` and `within:`"
    return reader.refuse(structure_errors.BadArgument(call.span, "highest", why, USAGE))


_Limit = tuple[plan.PromiseLimit, Span]


@dataclass(frozen=True)
class _Limits:
    reader: Reader

    def of(self, expr: ast.Expr) -> Iterator[_Limit | None]:
        """Yield each limit of a condition with its place, or None for a limit with a mistake."""
        match self.reader.deref(expr):
            case ast.Binary(operator="and", left=left, right=right):
                yield from self.of(left)
                yield from self.of(right)
            case ast.Binary(operator=("<" | "<="), left=left, right=right) as limit:
                yield self._limit(limit, left, right)
            case ast.Binary(operator=(">" | ">=" | "==" | "!=" | "or") as operator):
                self._wrong(expr, f"`{operator}`")
                yield None
            case other:
                self._wrong(expr, described(other))
                yield None

    def _limit(self, whole: ast.Binary, left: ast.Expr, right: ast.Expr) -> _Limit | None:
        strict = whole.operator == "<"
        match left:
            case ast.Name(text="errors"):
                most = self.reader.quantity("errors", right, _ERRORS)
                if most is None:
                    return None
                if most.value == 1:  # a limit of 100 % limits nothing
                    percent = f"{most.text} %" if most.bare else None
                    return self.reader.refuse(
                        value_errors.OutOfRange(most.span, "errors", most.text, "below 100 %", _ERRORS.example, percent)
                    )
                written = most.bare and isinstance(self.reader.deref(right), ast.Quantity)  # 1 / 10 is meant as it is
                if written and most.value >= _WRITTEN_IN_PERCENT:
                    self.reader.report(wrong.BareErrors(most.span, most.text, 100 * most.value))
                limit = f"errors {whole.operator} {most.text}"
                return plan.PromiseLimit(measure="errors", most=most.value, strict=strict, text=limit), left.span
            case ast.Index(
                base=ast.Attr(base=ast.Name(text="latency"), field=ast.Name(text=statistic)),
                arguments=[ast.Argument(key=None, value=ast.Name(text=operation) as of)],
            ) if statistic in STATISTICS and statistic != "min":
                most = self.reader.quantity(f"latency.{statistic}", right, _LATENCY)
                if most is None:
                    return None
                limit = f"latency.{statistic}[{operation}] {whole.operator} {most.text}"
                said = {"statistic": STATISTICS[statistic], "operation": operation, "text": limit}
                return plan.PromiseLimit(measure="latency", most=most.value, strict=strict, **said), of.span
            case ast.Attr(base=ast.Name(text="latency"), field=ast.Name(text=statistic)) if statistic in STATISTICS:
                return self.reader.refuse(NeedsOperation(left.span, left.span.text, ()))
            case _:
                return self.reader.refuse(wrong.NotPromised(left.span, left.span.text, "read"))

    def _wrong(self, expr: ast.Expr, what: str) -> None:
        self.reader.report(wrong.NotLimits(expr.span, what))


PER_DOUBLING = 4
FEWEST_STEPS = 32
_DIGITS = 3
"""The number of significant digits to which candidates between the two ends are rounded."""
_SLACK = 1e-9
"""How far, as a share, the last step of a range may miss its end because of rounding."""
ADAPTIVE_ARGUMENTS = ("points",)
FEWEST_POINTS = 3
"""The fewest points that can show a bend: both ends and the middle."""
_USUAL_POINTS = 9
_ADAPTIVE_USAGE = {"threads": "`adaptive(1..512, points: 9)`", "target": "`adaptive(1k ops/s..100k ops/s, points: 9)`"}
_POINTS = Number("", "9", plain=True, integer=True, minimum=1.0, maximum=1000.0)


def read_adaptive(
    key: str, call: ast.Call, shape: Number, reader: Reader
) -> tuple[tuple[float, ...], plan.Adaptive] | None:
    """Return the candidates and how many of them are measured, or None after a mistake, which is reported."""
    unknown = next((a.key for a in call.arguments if a.key and a.key.text not in ADAPTIVE_ARGUMENTS), None)
    if unknown is not None:
        known = ADAPTIVE_ARGUMENTS
        return reader.refuse(structure_errors.UnknownArgument(unknown.span, "adaptive", unknown.text, known))
    match call.arguments:
        case [
            ast.Argument(key=None, value=ast.Binary(operator="..") as ends),
            ast.Argument(key=ast.Name(text="points"), value=written),
        ]:
            pass
        case _:
            why = "takes two ends and `points:`"
            mended = _mended(call)
            usage = f"`{mended}`" if mended else _ADAPTIVE_USAGE[key]
            return reader.refuse(structure_errors.BadArgument(call.span, "adaptive", why, usage, mended))
    first = reader.quantity(key, ends.left, lowest(shape))
    last = reader.quantity(key, ends.right, shape)
    count = reader.quantity("points", written, _POINTS)
    if first is None or last is None or count is None:
        return None
    if last.value <= first.value:
        same = last.value == first.value
        why = f"both its ends are {first.value:g}" if same else f"it runs from {first.value:g} down to {last.value:g}"
        usage = "two numbers that differ" if same else "the smaller number first"
        return reader.refuse(value_errors.EmptyRamp(ends.span, key, why, usage))
    found = ramp_candidates(first.value, last.value)
    if count.value < FEWEST_POINTS:
        texts = (ends.left.span.text, ends.right.span.text)
        return reader.refuse(
            experiment_errors.TooFewAdaptivePoints(
                written.span, key, int(count.value), FEWEST_POINTS, _usual(len(found)), texts
            )
        )
    if count.value > len(found):
        at, most = written.span, len(found)
        return reader.refuse(
            experiment_errors.TooFewCandidates(at, key, int(count.value), most, first.value, last.value)
        )
    return found, plan.Adaptive(points=int(count.value))


def lowest(shape: Number) -> Number:
    """Return the shape of a ramp's first number. The example in it is 1, which is below the end of any ramp."""
    return replace(shape, example=f"1 {shape.unit}" if not shape.plain else "1")


def _mended(call: ast.Call) -> str | None:
    """Return the corrected call, or None if the call does not give both ends."""
    values = [argument.value for argument in call.arguments if argument.key is None]
    if len(values) == 2:
        first, last = (value.span.text for value in values)
    elif len(values) == 1 and isinstance(values[0], ast.Binary) and values[0].operator == "..":
        first, last = (value.span.text for value in (values[0].left, values[0].right))
    else:
        return None
    named = {argument.key.text: argument.value.span.text for argument in call.arguments if argument.key is not None}
    whole = first.isdecimal() and last.isdecimal() and 0 < int(first) < int(last)
    usual = _usual(len(ramp_candidates(int(first), int(last)))) if whole else _USUAL_POINTS
    return f"adaptive({first}..{last}, points: {named.get('points', usual)})"


def _usual(candidates: int) -> int:
    """Return the default number of measured points for this many candidates."""
    return min(candidates, max(FEWEST_POINTS, min(_USUAL_POINTS, candidates // 2)))


def ramp_candidates(first: float, last: float) -> tuple[float, ...]:
    """Return the whole numbers that an adaptive ramp may measure, in rising order, with both ends."""
    doublings = math.log2(last / first)
    each = max(PER_DOUBLING, math.ceil(FEWEST_STEPS / doublings - _SLACK))
    steps = math.ceil(each * doublings - _SLACK)
    between = (_rounded(first * (last / first) ** (i / steps)) for i in range(1, steps))
    return tuple(dict.fromkeys((first, *(point for point in between if first < point < last), last)))


def _rounded(point: float) -> float:
    digits = _DIGITS - 1 - math.floor(math.log10(point))
    return float(round(point, min(0, digits)))


MAX_POINTS = 1000

THREADS = Number("threads", "96", plain=True, integer=True, minimum=1.0, maximum=100_000.0)
TARGET = Number("ops/s", "20k ops/s", integer=True, minimum=1.0, maximum=2.0**31 - 1)


@dataclass(frozen=True)
class Numbers:
    """The rule for the numbers of a list or a range. `usage` shows ranges of such numbers, and `choosing` are the calls
    that choose such numbers during the measurement. If `whole`, the numbers of a range are rounded."""

    shape: Number
    usage: str
    wanted: str
    choosing: tuple[str, ...] = ()
    whole: bool = True
    unit: str = ""

    def shown(self, number: float) -> str:
        """Return a number as a spec writes it."""
        return f"{number / parse_unit(self.unit).factor:g} {self.unit}".strip()


_RATES = "a rate such as `1k ops/s`, or `range(1k ops/s, 4k ops/s, steps: 4)`"
_OF: Mapping[str, Numbers] = {
    "threads": Numbers(
        THREADS,
        "`range(1, 64, factor: 2)`, `range(8, 96, step: 8)` or `range(1, 100, steps: 10)`",
        EXPERIMENT.keys["threads"].shape.wanted,
        ("knee", "adaptive"),
    ),
    "target": Numbers(
        TARGET,
        "`range(1k ops/s, 20k ops/s, steps: 20)`",
        EXPERIMENT.keys["target"].shape.wanted,
        ("knee", "adaptive", "highest"),
    ),
    "steps": Numbers(TARGET, "`range(1k ops/s, 20k ops/s, steps: 20)`", _RATES),
}

LATENCY, RISE, GAIN = "p99", 0.10, 0.03
"""The default criterion of a search for a knee."""
KNEE_STATISTICS = tuple(name for name in STATISTICS if name != "min")
KNEE_ARGUMENTS = ("from", "to", "factor", "step", "latency", "rise", "gain", "else")
RANGE_ARGUMENTS = ("step", "factor", "steps")
_KNEE_USAGE = {
    "threads": "`knee(from: 1, factor: 2, to: 512)`, or `step: 8` in place of `factor:`",
    "target": "`knee(from: 1k ops/s, factor: 2, to: 100k ops/s)`, or `step: 5k ops/s` in place of `factor:`",
}
_FACTOR = Number("", "2", plain=True, minimum=1.0, above=True)
# At most five times: a larger number most likely lacks its `%`.
_RISE_SHAPE = Number("", "10 %", plain=True, above=True, maximum=5.0)
_GAIN_SHAPE = Number("", "3 %", plain=True, maximum=1.0)


Axis = Literal["threads", "target"]


@dataclass(frozen=True)
class KneeReference:
    """A reference `other.knee` to the knee that another experiment finds."""

    experiment: str
    span: Span


@dataclass(frozen=True)
class Ramp:
    """The points of a ramp, in base units. If `search`, `adaptive` or `promised` is set, they are candidates. If
    `found_by` is set, there are no points."""

    points: tuple[float, ...] = ()
    search: plan.KneeSearch | None = None
    adaptive: plan.Adaptive | None = None
    promised: DeclaredPromise | None = None
    found_by: KneeReference | None = None

    def __bool__(self) -> bool:
        return bool(self.points) or self.found_by is not None

    @property
    def described(self) -> str:
        if self.adaptive:
            return "is an adaptive ramp"
        return "is a search" if self.search or self.promised else f"has {len(self.points)} points"


_Points = list[tuple[float, Span]]
"""Points, each with its place in the text."""


@dataclass(frozen=True)
class Ramps:
    """An experiment's axis, and the ramp of values along it. If the axis is `target`, `threads` is the ramp of thread
    counts."""

    axis: Axis
    ramp: Ramp
    threads: Ramp

    @property
    def awaits(self) -> dict[Axis, KneeReference]:
        ramps: dict[Axis, Ramp] = {"threads": self.threads, self.axis: self.ramp}
        return {key: ramp.found_by for key, ramp in ramps.items() if ramp.found_by}


def read_ramp(key: str, expr: ast.Expr, reader: Reader) -> Ramp:
    """Return the ramp of `threads` or `target`, in the order of the spec."""
    match reader.deref(expr):
        case ast.Call(function=ast.Name(text="knee")) as call:
            return _search(key, call, reader)
        case ast.Call(function=ast.Name(text="adaptive")) as call:
            found = read_adaptive(key, call, _OF[key].shape, reader)
            return Ramp(found[0], adaptive=found[1]) if found else Ramp()
        case ast.Call(function=ast.Name(text="highest")) as call:
            highest = read_highest(key, call, _OF[key].shape, reader)
            return Ramp(highest[0], promised=highest[1]) if highest else Ramp()
        case ast.Attr(base=ast.Name(text=experiment), field=field) as attr:
            if field.text == "knee":
                return Ramp(found_by=KneeReference(experiment, attr.span))
            reader.report(name_errors.UnknownName(field.span, "result", field.text, ("knee",)))
            return Ramp()
    points = read_points(key, expr, reader)
    if points is None:
        return Ramp()
    if not points:
        usage = EXPERIMENT.keys[key].shape.wanted
        reader.report(value_errors.EmptyRamp(expr.span, key, "the list is empty", usage))
    seen: set[float] = set()
    for point, span in points:
        if point in seen:
            reader.report(value_errors.SamePoint(span, key, f"{point:g}"))
            return Ramp()
        seen.add(point)
    return Ramp(tuple(point for point, _ in points))


def _search(key: str, call: ast.Call, reader: Reader) -> Ramp:
    named = _arguments(key, call, reader)
    if named is None:
        return Ramp()
    shape = _OF[key].shape
    first = reader.quantity("from", named["from"], lowest(shape))
    last = reader.quantity("to", named["to"], shape)
    way = "factor" if "factor" in named else "step"
    step = reader.quantity(way, named[way], _FACTOR if way == "factor" else shape)
    latency = LATENCY
    if "latency" in named:
        match named["latency"]:
            case ast.Name(text=word) if word in KNEE_STATISTICS:
                latency = word
            case ast.Name(text=word) as name:
                reader.report(structure_errors.UnknownWord(name.span, "latency", word, KNEE_STATISTICS))
                return Ramp()
            case other:
                wanted = "a statistic such as `p99` or `mean`"
                reader.report(structure_errors.WrongType(other.span, "latency", wanted, described(other)))
                return Ramp()
    rise = reader.quantity("rise", named["rise"], _RISE_SHAPE) if "rise" in named else RISE
    gain = reader.quantity("gain", named["gain"], _GAIN_SHAPE) if "gain" in named else GAIN
    otherwise = reader.quantity("else", named["else"], shape) if "else" in named else None
    if first is None or last is None or step is None or rise is None or gain is None:
        return Ramp()
    if "else" in named and otherwise is None:
        return Ramp()
    points = _stepped(key, call, (first.value, last.value), way, step.value, _OF[key], reader)
    if points is None:
        return Ramp()
    if len(points) < 2:
        why = f"has only the point {first.text}, and a knee needs at least two"
        reader.report(structure_errors.BadArgument(call.span, "knee", why, _KNEE_USAGE[key]))
        return Ramp()
    search = plan.KneeSearch(
        latency=STATISTICS[latency],
        rise=_value(rise),
        gain=_value(gain),
        otherwise=otherwise.value if otherwise else None,
    )
    return Ramp(tuple(point for point, _ in points), search)


def _value(number: Constant | float) -> float:
    return number.value if isinstance(number, Constant) else number


def _arguments(key: str, call: ast.Call, reader: Reader) -> dict[str, ast.Expr] | None:
    """Return the arguments of `knee(...)` by name (two end points, and a step or a factor), or None after a mistake."""
    named = named_arguments(call, KNEE_ARGUMENTS, reader)
    if named is None:
        return None
    missing = [f"`{name}:`" for name in ("from", "to") if name not in named]
    missing += ["`factor:` or `step:`"] if named.keys().isdisjoint({"factor", "step"}) else []
    if len(named) < len(call.arguments) or missing or {"factor", "step"} <= named.keys():
        why = "takes `from:` and `to:`, and one of `factor:` and `step:`"
        if missing and len(named) == len(call.arguments):
            why = f"needs {' and '.join(missing)}"
        return reader.refuse(structure_errors.BadArgument(call.span, "knee", why, _KNEE_USAGE[key]))
    return {name: argument.value for name, argument in named.items()}


def read_points(key: str, expr: ast.Expr, reader: Reader, numbers: Numbers | None = None) -> _Points | None:
    """Return the points of a list, a range or a number, with their places, or None after a mistake."""
    of = numbers or _OF[key]
    match reader.deref(expr):
        case ast.List() as items:
            return _listed(key, items, of, reader)
        case ast.Binary(operator="..") as dots:
            return _dots(key, dots, of, reader)
        case ast.Call(function=ast.Name(text="range")) as call:
            return _range(key, call, of, reader)
        case ast.Binary(operator="-", left=ast.Quantity(value=first), right=ast.Quantity(value=last)) as minus if (
            first < last
        ):
            meant = f"{minus.left.span.text}..{minus.right.span.text}"
            return reader.refuse(structure_errors.WrongType(minus.span, key, of.wanted, described(minus), meant))
        case ast.Quantity() | ast.Unary() | ast.Binary() as number:
            constant = reader.quantity(key, number, of.shape)
            return None if constant is None else [(constant.value, number.span)]
        case other:
            words = ("range", *of.choosing)
            return reader.refuse(wrong_value(other, key, of.wanted, words, numbers=True))


def _listed(key: str, items: ast.List, of: Numbers, reader: Reader) -> _Points | None:
    points: _Points = []
    whole = True
    for item in items.items:
        match reader.deref(item):
            case ast.List():  # nested lists could double the ramp again and again
                return reader.refuse(structure_errors.WrongType(item.span, key, of.wanted, "a list in a list"))
            case ast.Call(function=ast.Name(text=chosen)) if chosen in of.choosing:
                wanted, found = f"a list of numbers, or `{chosen}(...)` alone", f"a list that holds `{chosen}(...)`"
                return reader.refuse(structure_errors.WrongType(item.span, key, wanted, found))
        part = read_points(key, item, reader, of)
        whole = whole and part is not None
        points.extend(part or ())
        if len(points) > MAX_POINTS:
            count = float(len(points))
            return reader.refuse(value_errors.TooManyPoints(items.span, key, count, MAX_POINTS))
    return points if whole else None


def _dots(key: str, expr: ast.Binary, of: Numbers, reader: Reader) -> _Points | None:
    first = reader.quantity(key, expr.left, lowest(of.shape))
    last = reader.quantity(key, expr.right, of.shape)
    if first is None or last is None:
        return None
    return _stepped(key, expr, (first.value, last.value), "step", 1.0, of, reader)


def _range(key: str, call: ast.Call, of: Numbers, reader: Reader) -> _Points | None:
    shape = of.shape
    positional = [argument.value for argument in call.arguments if argument.key is None]
    named = {argument.key.text: argument.value for argument in call.arguments if argument.key is not None}
    for argument in call.arguments:
        if argument.key is not None and argument.key.text not in RANGE_ARGUMENTS:
            name = argument.key
            return reader.refuse(structure_errors.UnknownArgument(name.span, "range", name.text, RANGE_ARGUMENTS))
    if len(positional) != 2 or len(named) != 1:
        why = "takes a first and a last point, and one of `step:`, `factor:` and `steps:`"
        usage, mended = of.usage, None
        if len(positional) == 3 and not named:
            mended = "range({}, {}, step: {})".format(*(value.span.text for value in positional))
            usage = f"`{mended}`"
        return reader.refuse(structure_errors.BadArgument(call.span, "range", why, usage, mended))
    first, last = reader.quantity(key, positional[0], lowest(shape)), reader.quantity(key, positional[1], shape)
    [(way, value)] = named.items()
    match way:
        case "step":
            step = reader.quantity(
                "step", value, replace(shape, minimum=max(0.0, shape.minimum), above=not shape.integer)
            )
        case "factor":
            step = reader.quantity("factor", value, _FACTOR)
        case _:
            step = reader.quantity("steps", value, Number("", "25", plain=True, integer=True, minimum=2.0))
    if first is None or last is None or step is None:
        return None
    return _stepped(key, call, (first.value, last.value), way, step.value, of, reader)


def _stepped(
    key: str, expr: ast.Expr, ends: tuple[float, float], way: str, step: float, of: Numbers, reader: Reader
) -> _Points | None:
    """Return the points of a range, starting at its first end, or None after a mistake. If `whole`, points that round
    to the same number appear once."""
    first, last = ends
    if last < first:
        why = f"it runs from {of.shown(first)} down to {of.shown(last)}"
        return reader.refuse(value_errors.EmptyRamp(expr.span, key, why, "the smaller number first"))
    if way == "factor" and first <= 0:
        why = f"it grows from {of.shown(first)} by a factor"
        return reader.refuse(value_errors.EmptyRamp(expr.span, key, why, "a first number above 0, or `step:`"))
    if way == "factor":
        steps = math.log(last / first) / math.log(step)
    else:
        step = step if way == "step" else (last - first) / (step - 1)
        steps = (last - first) / step if step else 0.0
    if steps >= MAX_POINTS:
        return reader.refuse(value_errors.TooManyPoints(expr.span, key, math.floor(steps) + 1.0, MAX_POINTS))
    found = (first * step**i if way == "factor" else first + i * step for i in range(math.floor(steps + _SLACK) + 1))
    return [(point, expr.span) for point in dict.fromkeys(float(round(each)) if of.whole else each for each in found)]

"""Searches for a promise: `highest(1k ops/s..200k ops/s, where: latency.p99[read] < 5 ms, within: 3 %)`.

The candidates are fixed in the plan, so that each has its cells with their hashes, and a search can be resumed and its
results reused. `model/rate_search.py` has the rule by which a run chooses among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil

from benchbrief.compiler.blocks import experiment_errors as wrong
from benchbrief.compiler.blocks.values import Reader, Values, described, named_arguments
from benchbrief.compiler.blocks.workloads import Load
from benchbrief.compiler.extensions import EngineSpec, ToolSpec
from benchbrief.compiler.extensions.registry import tools_from_due
from benchbrief.compiler.frontend import structure_errors, value_errors
from benchbrief.compiler.measure_catalogue import STATISTICS
from benchbrief.compiler.metrics.metric_errors import FewBeyond, NeedsOperation
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan
from benchbrief.model.achieved_load import Schedule
from benchbrief.model.precision import are_few, share_beyond
from benchbrief.model.rate_search import LEAD, candidates, lengths
from benchbrief.model.value_shapes import Number

JUDGED, HELD_OUT = 5, 3
"""The repeats of a spec that says none: those that decide on a rate at most, and those that confirm the last."""
MOST_CANDIDATES = 2000
HIGHEST_ARGUMENTS = ("where", "within", "held_out")
USAGE = "`highest(1k ops/s..200k ops/s, where: latency.p99[read] < 5 ms, within: 3 %)`"
_WITHIN = Number("", "3 %", plain=True, above=True, maximum=0.5)
_HELD_OUT = Number("", "3", plain=True, integer=True, minimum=1.0, maximum=100.0)
_LATENCY = Number("s", "5 ms", above=True)
_ERRORS = Number("", "0.1 %", plain=True, maximum=1.0)
_WRITTEN_IN_PERCENT = 0.01
"""From this share of errors on, a number without `%` is more likely a number of per cent that lacks it."""


@dataclass(frozen=True)
class DeclaredPromise:
    """A promise as it is written. `operations` are the places of those that its limits name."""

    limits: tuple[plan.PromiseLimit, ...]
    within: float
    held_out: int
    operations: tuple[tuple[str, Span], ...]
    span: Span


def read_highest(
    key: str, call: ast.Call, shape: Number, reader: Reader
) -> tuple[tuple[float, ...], DeclaredPromise] | None:
    """Return the candidates and the promise; None after a mistake, which is reported."""
    if key != "target":
        return reader.refuse(wrong.HighestOfThreads(call.span))
    named = _arguments(call, reader)
    if named is None:
        return None
    ends = call.arguments[0].value
    if not isinstance(ends, ast.Binary):  # `_arguments` has looked
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
    """Return the promise of a plan. `repeats` are all at a rate, the held-out ones at last."""
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
    """Return the share of operations that may fail: as the spec says, or else as the promise allows."""
    allowed = [limit.most for limit in (promised.limits if promised else ()) if limit.measure == "errors"]
    return said if said is not None else min(allowed, default=0.0)


def judging_repeats(values: Values, repeats: int, order: str, reader: Reader) -> int:
    """Return how many repeats decide on a rate at most. Reports other rules for repeats, and too few of them."""
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
    loads: Iterable[Load],
    tool: ToolSpec,
    engine: EngineSpec,
    lowest: tuple[Schedule, float, float],
    reader: Reader,
) -> None:
    """Report operations that are not done, percentiles of too few operations at the `lowest` rate and its seconds, and
    a tool that can't tell when operations were due."""
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


def _arguments(call: ast.Call, reader: Reader) -> dict[str, ast.Expr] | None:
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
        """Yield each limit of a condition with its place; None for one with a mistake."""
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
                if most.value == 1:  # limits nothing
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

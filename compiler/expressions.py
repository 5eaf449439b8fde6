"""Typing expressions: names to measures, indices to keys, and the dimensions and the unit of every part.

All mistakes go to the findings; an expression with one is None, and what is built on it stays silent.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from benchbrief.compiler import metric_errors as wrong
from benchbrief.compiler.errors import Findings, NotSupported
from benchbrief.compiler.indexing import index, reachable_words
from benchbrief.compiler.measures import (
    AXIS_UNITS,
    DIMENSIONS,
    FAMILIES,
    KINDS,
    ORDERED,
    SAMPLED,
    planned_runs,
    unique,
)
from benchbrief.compiler.plan import Dimension
from benchbrief.compiler.scope import Scope
from benchbrief.compiler.terms import (
    AxisValue,
    Fact,
    Measure,
    Number,
    Operation,
    Reduction,
    Term,
    leaves,
    offered_keys,
    without_points,
)
from benchbrief.compiler.units import (
    DIMENSIONLESS,
    Unit,
    UnknownUnitError,
    base_unit,
    divide,
    multiply,
    parse_unit,
)
from benchbrief.compiler.units import Dimension as UnitDimension
from benchbrief.compiler.value_errors import NotFinite, UnknownUnit
from benchbrief.dsl import ast
from benchbrief.dsl.source import Span

REDUCTIONS = ("max", "min", "mean", "sum", "median", "first", "last", "count")
LATER = {
    "knee": "choose the point yourself, as in `throughput[threads: 96]`",
    "saturation": "use `max(throughput over target)`",
    "time_to_steady": "compare the phases in a figure: `line = throughput by phase`",
    "steady": "name the phases instead: `when phase > 1`",
}
"""Words of the language that are not supported yet, and what to write meanwhile."""

_DEEPEST, _LARGEST = 120, 2000
_COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})
Demanded = frozenset[Dimension]
_NOTHING: Demanded = frozenset()


@dataclass(frozen=True)
class Typed:
    """A term, and the unit to show it in when the text says one (a metric's `in unit`)."""

    term: Term
    display: Unit | None = None

    @property
    def unit(self) -> Unit:
        """To show a number in: the declared one, or the base unit."""
        if self.display is not None:
            return self.display
        dimension = self.term.unit or DIMENSIONLESS
        return Unit(dimension, 1.0, base_unit(dimension))


def taken(name: str) -> str:
    """What a name means in every spec, so that no metric can have it; "" for all others."""
    if name in KINDS or name in FAMILIES or name == "nodes":
        return "a measure"
    return "a dimension" if name in DIMENSIONS else ""


def text_of(expr: ast.Expr) -> str:
    """The expression as written, on one line."""
    return " ".join(re.sub(r"#[^\n]*", "", expr.span.text).split())


class Typer:
    """Types the expressions of one spec."""

    def __init__(self, scope: Scope, findings: Findings) -> None:
        self.scope = scope
        self.findings = findings
        self.runs = planned_runs(scope)
        self.metrics: Mapping[str, ast.Metric] = {
            metric.name.text: metric for metric in scope.metrics if not taken(metric.name.text)
        }
        self._typed_metrics: dict[tuple[str, Demanded], Typed | None] = {}
        self._open: list[str] = []
        self._depth = 0

    def typed(self, expr: ast.Expr, demanded: Demanded = _NOTHING) -> Typed | None:
        """The type of an expression; `demanded` dimensions are kept where a measure has them on demand."""
        if self._depth >= _DEEPEST:
            self.findings.add(wrong.TooComplex(expr.span, f"more than {_DEEPEST} levels"))
            return None
        self._depth += 1
        try:
            typed = self._typed(expr, demanded)
        finally:
            self._depth -= 1
        if typed is not None and (typed.term.size > _LARGEST or typed.term.depth > _DEEPEST):
            what = f"{_LARGEST} parts" if typed.term.size > _LARGEST else f"{_DEEPEST} levels"
            self.findings.add(wrong.TooComplex(expr.span, f"more than {what}"))
            return None
        return typed

    def number(self, expr: ast.Expr, demanded: Demanded = _NOTHING) -> Typed | None:
        """Like `typed`, for what has to be a number."""
        typed = self.typed(expr, demanded)
        if typed is not None and typed.term.unit is None:
            advice = "a condition stands in `expect`, or after `when` in a reduction"
            self.findings.add(wrong.WrongKind(expr.span, "a number", "a condition", advice))
            return None
        return typed

    def condition(self, expr: ast.Expr, demanded: Demanded = _NOTHING) -> Typed | None:
        """Like `typed`, for what has to be true or false."""
        typed = self.typed(expr, demanded)
        if typed is not None and typed.term.unit is not None:
            found = wrong.unit_words(typed.term.unit).replace("in `", "a number in `")
            self.findings.add(
                wrong.WrongKind(expr.span, "a condition", found, "compare it with something, as in `throughput > 0`")
            )
            return None
        return typed

    def metric(self, name: str, demanded: Demanded = _NOTHING) -> Typed | None:
        """A metric's expression, in its declared unit. Mistakes in it are reported once."""
        key = (name, demanded)
        if key not in self._typed_metrics:
            metric = self.metrics[name]
            if name in self._open:
                chain = tuple(self._open[self._open.index(name) :])
                start = min(range(len(chain)), key=lambda i: self.metrics[chain[i]].span.start)
                chain = chain[start:] + chain[:start]
                self.findings.add(wrong.CircularMetric(self.metrics[chain[0]].name.span, chain))
                return None
            self._open.append(name)
            try:
                typed = self.number(metric.expr, demanded)
            finally:
                self._open.pop()
            self._typed_metrics[key] = typed and self._in_declared_unit(metric, typed)
        return self._typed_metrics[key]

    def is_complete(self, typed: Typed, expr: ast.Expr, where: str = "") -> bool:
        """Whether the term can be computed as it is: each latency says of which operation, and something is planned.

        `where` is added to what is said when nothing is.
        """
        for leaf in leaves(typed.term):
            if isinstance(leaf, Measure) and leaf.kind.needs_operation and "operation" in leaf.offers - set(leaf.dims):
                operations = tuple(str(key) for key in offered_keys(leaf, "operation"))
                span = mention(expr, leaf.kind.name)
                self.findings.add(wrong.NeedsOperation(span, leaf.kind.name, operations))
                return False
        empty = without_points(typed.term)
        if empty is not None:
            name = _called(empty) if isinstance(empty, Measure) else text_of(expr)
            self.findings.add(wrong.NothingPlanned(expr.span, name, where))
        return empty is None

    # --- each kind of expression ---

    def _typed(self, expr: ast.Expr, demanded: Demanded) -> Typed | None:
        match expr:
            case ast.Quantity():
                return self._quantity(expr)
            case ast.Name():
                return self._name(expr, demanded)
            case ast.Attr():
                return self._dotted(expr, demanded)
            case ast.Index():
                base = self.typed(expr.base, demanded)
                at_keys = base and index(self, base.term, expr)
                return Typed(at_keys[0], base.display) if base and at_keys else None
            case ast.Call():
                return self._call(expr, demanded)
            case ast.Unary():
                return self._unary(expr, demanded)
            case ast.Binary(operator="+" | "-" | "*" | "/"):
                return self._arithmetic(expr, demanded)
            case ast.Binary(operator="and" | "or"):
                left, right = self.condition(expr.left, demanded), self.condition(expr.right, demanded)
                return Typed(Operation(expr.operator, (left.term, right.term), None)) if left and right else None
            case ast.Binary() if expr.operator in _COMPARISONS:
                return self._comparison(expr, demanded)
            case ast.String():
                found = "a quoted text"
            case ast.List():
                found = "a list"
            case _:
                found = f"`{text_of(expr)}`"
        self.findings.add(wrong.NotAnExpression(expr.span, found))
        return None

    def _quantity(self, expr: ast.Quantity) -> Typed | None:
        try:
            unit = parse_unit(expr.unit)
        except UnknownUnitError as error:
            self._unknown_unit(expr.unit_span or expr.span, error)
            return None
        value = unit.to_base(expr.value)
        if not math.isfinite(value):
            self.findings.add(NotFinite(expr.span))
            return None
        return Typed(Number(value, unit.dimension))

    def _unknown_unit(self, span: Span, error: UnknownUnitError) -> None:
        start = span.start + error.start
        part = Span(span.source, start, start + len(error.part))
        self.findings.add(UnknownUnit(part, error.part, error.hint))

    def _name(self, name: ast.Name, demanded: Demanded) -> Typed | None:
        word = name.text
        if word in self.metrics:
            return self.metric(word, demanded)
        if word in KINDS:
            return self._measure(name.span, word, demanded)
        if word in AXIS_UNITS:
            dim = cast(Dimension, word)
            points = unique(key for run in self.runs for key in run.keys(dim))
            return Typed(AxisValue(dim, parse_unit(AXIS_UNITS[dim]).dimension, cast("tuple[float, ...]", points)))
        fact = self._fact(name)
        if fact is not None:
            return Typed(fact)
        if word in self.scope.params:
            return self.typed(self.scope.params[word], demanded)
        self._explain(name)
        return None

    def _fact(self, name: ast.Name) -> Fact | None:
        word = name.text
        if word == "nodes":
            unit = parse_unit("nodes").dimension
            return Fact(word, unit, tuple((hardware.key, float(hardware.nodes)) for hardware in self.scope.hardware))
        found = {hw.key: hw.facts[word] for hw in self.scope.hardware if word in hw.facts}
        units = {parse_unit(quantity.unit).dimension for quantity in found.values()}
        if len(units) != 1:  # undeclared, or said in two kinds of units, which `_explain` names
            return None
        return Fact(word, units.pop(), tuple((key, quantity.value) for key, quantity in found.items()))

    def _explain(self, name: ast.Name) -> None:
        """Says why a name is not a number."""
        word = name.text
        scope = self.scope
        if word in LATER:
            self.findings.add(NotSupported(name.span, f"`{word}`", LATER[word]))
            return
        what = ""
        if word in FAMILIES:
            what, instead = "a family of measures", f"write one of `{'`, `'.join(FAMILIES[word])}`"
        elif any(word in (hw.key, *hw.aliases) for hw in scope.hardware):
            what, instead = "hardware", f"to fix it, write it in an index: `throughput[{word}]`"
        elif any(word == workload.key for workload in scope.workloads):
            what, instead = "a workload", f"to fix it, write it in an index: `throughput[{word}]`"
        elif any(word == experiment.key for experiment in scope.experiments):
            what, instead = "an experiment", f"to fix it, write it in an index: `throughput[{word}]`"
        elif word in DIMENSIONS:
            what, instead = "a dimension", f"reduce over it, as in `max(throughput over {word})`"
        elif any(word in hw.texts for hw in scope.hardware):
            what, instead = "a declared text", f"in prose, write `{{{scope.hardware[0].key}.{word}}}`"
        elif any(word in hw.facts for hw in scope.hardware):
            what, instead = "declared in units of different kinds", "declare it in one kind for all hardware"
        if what:
            self.findings.add(wrong.NotANumber(name.span, word, what, instead))
        else:
            self.findings.add(wrong.UnknownQuantity(name.span, "measure", word, reachable_words(self)))

    def _dotted(self, expr: ast.Attr, demanded: Demanded) -> Typed | None:
        word = dotted(expr)
        if word in KINDS:
            return self._measure(expr.span, word, demanded)
        family = word.partition(".")[0]
        known = tuple(kind for kind in KINDS if kind.startswith(f"{family}."))
        if isinstance(expr.base, ast.Name) and expr.field.text in LATER:
            self.findings.add(NotSupported(expr.span, f"`{expr.field.text}`", LATER[expr.field.text]))
        elif known:
            self.findings.add(wrong.UnknownQuantity(expr.span, "measure", word, known))
        else:
            self.findings.add(wrong.NotAnExpression(expr.span, f"`{word}`"))
        return None

    def _measure(self, span: Span, name: str, demanded: Demanded) -> Typed | None:
        kind = KINDS[name]
        runs = self.runs
        if kind.probe:
            runs = tuple(run for run in runs if kind.probe in run.probes)
            declared = None if runs else self._fact(ast.Name(span, name))
            if declared is not None:
                return Typed(declared)  # `power = 250 W`: declared, and never sampled
            if not runs:
                experiments = tuple(experiment.key for experiment in self.scope.experiments)
                self.findings.add(wrong.NeedsProbe(span, name, kind.probe, experiments))
                return None
        if "phase" in demanded:
            if kind.view == "sample":
                self.findings.add(wrong.NotByPhase(span, name))
                return None
            runs = tuple(run for run in runs if run.phases > 1) or runs
            if all(run.phases == 1 for run in runs):
                demanded = demanded - {"phase"}
        return Typed(Measure(kind, runs, self.scope.experiment_visible, demanded & kind.on_demand))

    def _unary(self, expr: ast.Unary, demanded: Demanded) -> Typed | None:
        if expr.operator == "not":
            condition = self.condition(expr.operand, demanded)
            return condition and Typed(Operation("not", (condition.term,), None))
        typed = self.number(expr.operand, demanded)
        if typed is None:
            return None
        if isinstance(typed.term, Number):
            return Typed(Number(-typed.term.value, typed.term.unit), typed.display)
        return Typed(Operation("-", (typed.term,), typed.term.unit), typed.display)

    def _arithmetic(self, expr: ast.Binary, demanded: Demanded) -> Typed | None:
        left, right = self.number(expr.left, demanded), self.number(expr.right, demanded)
        if left is None or right is None:
            return None
        left_unit, right_unit = left.term.unit or DIMENSIONLESS, right.term.unit or DIMENSIONLESS
        display: Unit | None = None
        match expr.operator:
            case "*":
                unit = multiply(left_unit, right_unit)
            case "/":
                unit = divide(left_unit, right_unit)
            case _:
                common = self._common_unit(expr, left.term, right.term)
                if common is None:
                    return None
                unit = common
                if left.display == right.display or isinstance(right.term, Number):
                    display = left.display
        return Typed(_folded(expr.operator, left.term, right.term, unit), display)

    def _comparison(self, expr: ast.Binary, demanded: Demanded) -> Typed | None:
        left, right = self.number(expr.left, demanded), self.number(expr.right, demanded)
        if left is None or right is None or self._common_unit(expr, left.term, right.term) is None:
            return None
        return Typed(Operation(expr.operator, (left.term, right.term), None))

    def _common_unit(self, expr: ast.Binary, left: Term, right: Term) -> UnitDimension | None:
        """The unit of both sides; nothing at all (`0`) is in any unit."""
        if left.unit == right.unit or _is_zero(right):
            return left.unit
        if _is_zero(left):
            return right.unit
        self.findings.add(
            wrong.UnitMismatch(
                expr.operator_span, expr.operator, left.unit, right.unit, expr.left.span, expr.right.span
            )
        )
        return None

    def _call(self, expr: ast.Call, demanded: Demanded) -> Typed | None:
        function = expr.function.text
        if function in LATER:
            self.findings.add(NotSupported(expr.function.span, f"`{function}`", LATER[function]))
            return None
        if function == "range":
            advice = "use `min` and `max`; `range` stands by itself in a hole, as in `{range(gain over threads):.0f}`"
            self.findings.add(wrong.BadReduction(expr.span, function, "gives two numbers", advice))
            return None
        if function not in REDUCTIONS:
            self.findings.add(wrong.UnknownFunction(expr.function.span, "function", function, (*REDUCTIONS, "range")))
            return None
        over = self._over(expr)
        if over is None:
            return None
        inner = demanded | set(over)
        operand = self.number(expr.arguments[0].value, inner)
        when = self.condition(expr.when, inner) if expr.when else None
        if operand is None or (expr.when and when is None):
            return None
        return self._reduced(expr, operand, over, when.term if when else None)

    def _over(self, expr: ast.Call) -> tuple[Dimension, ...] | None:
        function = expr.function.text
        why = ""
        if len(expr.arguments) != 1 or expr.arguments[0].key is not None:
            why = "takes one expression"
        elif not expr.over:
            why = "does not say over what"
        elif function in ("first", "last") and len(expr.over) > 1:
            why = "goes along one dimension"
        if why:
            usage = f"write `{function}(throughput over threads)`"
            self.findings.add(wrong.BadReduction(expr.span, function, why, usage))
            return None
        for name in expr.over:
            if name.text not in DIMENSIONS:
                self.findings.add(wrong.UnknownDimension(name.span, "dimension", name.text, DIMENSIONS))
                return None
            if function in ("first", "last") and name.text not in ORDERED:
                why = f"needs a dimension with an order, and `{name.text}` has none"
                self.findings.add(wrong.BadReduction(name.span, function, why, "use `min` or `max`"))
                return None
        return cast("tuple[Dimension, ...]", tuple(dict.fromkeys(name.text for name in expr.over)))

    def _reduced(self, expr: ast.Call, operand: Typed, over: tuple[Dimension, ...], when: Term | None) -> Typed | None:
        function, inner = expr.function.text, expr.arguments[0].value
        term = operand.term
        for name in expr.over:
            if name.text not in term.dims:
                self.findings.add(wrong.DimensionAbsent(name.span, text_of(inner), name.text, term.dims))
                return None
        if when is not None and expr.when is not None and set(when.dims) - set(term.dims):
            extra = tuple(dim for dim in when.dims if dim not in term.dims)
            self.findings.add(wrong.ConditionDimension(expr.when.span, extra, text_of(inner)))
            return None
        if function in ("mean", "sum", "median") and term.unit != DIMENSIONLESS and _holds_percentiles(term):
            self.findings.add(wrong.MeanOfPercentiles(expr.span, function, over))
        display = operand.display if function != "count" else None
        sampled, planned = [d for d in over if d in SAMPLED], [d for d in over if d not in SAMPLED]
        if not sampled or not planned:
            return Typed(Reduction(function, term, over, when), display)
        # Samples first: a gap in them is skipped, while a planned point without a value leaves the result unknown.
        if function == "median" or when is not None:
            first, then = ", ".join(sampled), ", ".join(planned)
            advice = f"reduce one after the other: `{function}({function}(... over {first}) over {then})`"
            why = "can't reduce samples and planned points at once"
            self.findings.add(wrong.BadReduction(expr.span, function, why, advice))
            return None
        within = Reduction(function, term, tuple(sampled), None)
        return Typed(Reduction("sum" if function == "count" else function, within, tuple(planned), None), display)

    def _in_declared_unit(self, metric: ast.Metric, typed: Typed) -> Typed | None:
        if metric.unit is None:
            return typed
        try:
            unit = parse_unit(metric.unit.text)
        except UnknownUnitError as error:
            self._unknown_unit(metric.unit.span, error)
            return None
        actual = typed.term.unit or DIMENSIONLESS
        if actual != unit.dimension:
            parts: tuple[tuple[Span, UnitDimension | None], ...] = ()
            if isinstance(metric.expr, ast.Binary) and isinstance(typed.term, Operation):
                sides = (metric.expr.left, metric.expr.right)
                parts = tuple((e.span, t.unit) for e, t in zip(sides, typed.term.operands, strict=True))
            self.findings.add(
                wrong.WrongUnit(
                    metric.expr.span, metric.name.text, metric.unit.text, actual, metric.unit.span, parts
                )
            )
            return None
        return Typed(typed.term, unit)


def dotted(expr: ast.Expr) -> str:
    """`latency.p99` as one word; other expressions as they are written."""
    return f"{dotted(expr.base)}.{expr.field.text}" if isinstance(expr, ast.Attr) else text_of(expr)


def mention(expr: ast.Expr, measure: str) -> Span:
    """Where in the expression a measure is named; the whole of it when that is inside a metric."""
    match expr:
        case ast.Attr() if dotted(expr) == measure:
            return expr.span
        case ast.Binary():
            parts: tuple[ast.Expr, ...] = (expr.left, expr.right)
        case ast.Unary():
            parts = (expr.operand,)
        case ast.Call():
            parts = (*(argument.value for argument in expr.arguments), *([expr.when] if expr.when else []))
        case ast.Index():
            parts = (expr.base,)
        case _:
            parts = ()
    for part in parts:
        span = mention(part, measure)
        if span is not part.span or dotted(part) == measure:
            return span
    return expr.span


def _called(measure: Measure) -> str:
    operation = dict(measure.fixed).get("operation")
    return f"{measure.kind.name}[{operation}]" if operation else measure.kind.name


def _folded(operator: str, left: Term, right: Term, unit: UnitDimension) -> Term:
    if isinstance(left, Number) and isinstance(right, Number) and not (operator == "/" and right.value == 0):
        a, b = left.value, right.value
        value = {"+": a + b, "-": a - b, "*": a * b}[operator] if operator != "/" else a / b
        if math.isfinite(value):
            return Number(value, unit)
    return Operation(operator, (left, right), unit)


def _is_zero(term: Term) -> bool:
    return isinstance(term, Number) and term.value == 0 and term.unit == DIMENSIONLESS


def _holds_percentiles(term: Term) -> bool:
    match term:
        case Measure():
            return term.kind.is_percentile
        case Operation():
            return any(_holds_percentiles(operand) for operand in term.operands)
        case Reduction(function="max" | "min" | "first" | "last" | "median"):
            return _holds_percentiles(term.operand)
        case _:
            return False

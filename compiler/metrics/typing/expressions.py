"""Types expressions: names become measures and indices keys, and every part has dimensions and a unit.

Mistakes go to the findings. A wrong expression is None, and expressions around it report nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from benchbrief.compiler.frontend.declared_names import names_in, text_of
from benchbrief.compiler.frontend.scope import Scope
from benchbrief.compiler.frontend.value_errors import NotFinite, UnknownUnit
from benchbrief.compiler.measure_catalogue import Key
from benchbrief.compiler.metrics import evidence_errors, unit_errors
from benchbrief.compiler.metrics import metric_errors as wrong
from benchbrief.compiler.metrics.typing.common_points import disjoint_parts, of_other_lengths
from benchbrief.compiler.metrics.typing.curves import field_of
from benchbrief.compiler.metrics.typing.indexing import index
from benchbrief.compiler.metrics.typing.lookups import look_up, look_up_dotted, reserved_for
from benchbrief.compiler.metrics.typing.planned_points import Runs, planned_runs
from benchbrief.compiler.metrics.typing.reductions import reduction
from benchbrief.compiler.metrics.typing.repeat_functions import holds_percentiles
from benchbrief.compiler.metrics.typing.terms import (
    Measure,
    Number,
    Operation,
    Term,
    has_repeats,
    leaves,
    offered_keys,
    without_points,
)
from benchbrief.compiler.metrics.typing.typed_expression import Demanded, Typed, mention, unit_of
from benchbrief.compiler.planning.plan import Dimension
from benchbrief.compiler.problems import CompileProblem, Findings
from benchbrief.compiler.units import DIMENSIONLESS, Unit, UnknownUnitError, divide, multiply, parse_unit
from benchbrief.compiler.units import Dimension as UnitDimension
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast

T = TypeVar("T")

_DEEPEST, _LARGEST = 120, 2000
MAX_PARTS, MAX_EXPRESSIONS = 200_000, 4_000  # of a spec, with everything in its reports
_COMPARISONS = frozenset({"<", "<=", ">", ">=", "==", "!="})
_NOTHING: Demanded = frozenset()


class Typer:
    """Types the expressions of one spec."""

    def __init__(self, scope: Scope, findings: Findings, runs: Runs | None = None, *, planning: bool = True) -> None:
        """`runs` are the planned ones, where known; what is computed of them is shared."""
        self.scope = scope
        self.planning = planning
        self.findings = findings
        self.runs = planned_runs(scope) if runs is None else runs
        self.metrics: Mapping[str, ast.Metric] = {
            metric.name.text: metric for metric in scope.metrics if not reserved_for(metric.name.text)
        }
        self.facts: dict[str, Typed | None] = {}
        self._ranks: dict[Dimension, Mapping[Key, int]] = {}
        self._typed_metrics: dict[tuple[str, Demanded], Typed | None] = {}
        self._open: list[str] = []
        self._depth = 0
        self.parts = 0
        self.expressions = 0
        self.unrolled = 0
        """Counts so far, for the limits of a whole spec."""

    def report(self, problem: CompileProblem) -> None:
        self.findings.add(problem)

    def refuse(self, problem: CompileProblem) -> T | None:
        """Report a mistake, and return None in place of what it spoils."""
        self.findings.add(problem)
        return None

    def typed(self, expr: ast.Expr, demanded: Demanded = _NOTHING) -> Typed | None:
        """Type an expression. A measure keeps `demanded` dimensions that it has on demand."""
        if self._depth >= _DEEPEST:
            return self.refuse(wrong.TooComplex(expr.span, f"more than {_DEEPEST} levels"))
        self._depth += 1
        try:
            typed = self._typed(expr, demanded)
        finally:
            self._depth -= 1
        if typed is not None and (typed.term.size > _LARGEST or typed.term.depth > _DEEPEST):
            what = f"{_LARGEST} parts" if typed.term.size > _LARGEST else f"{_DEEPEST} levels"
            return self.refuse(wrong.TooComplex(expr.span, f"more than {what}"))
        return typed

    def number(self, expr: ast.Expr, demanded: Demanded = _NOTHING) -> Typed | None:
        """Type an expression that has to be a number."""
        typed = self.typed(expr, demanded)
        if typed is not None and typed.term.unit is None:
            advice = "use a condition in `expect`, or after `when` in a reduction"
            return self.refuse(unit_errors.WrongKind(expr.span, "a number", "a condition", advice))
        return typed

    def condition(self, expr: ast.Expr, demanded: Demanded = _NOTHING) -> Typed | None:
        """Type an expression that has to be true or false."""
        typed = self.typed(expr, demanded)
        if typed is not None and typed.term.unit is not None:
            found = unit_errors.unit_words(typed.term.unit).replace("in `", "a number in `")
            advice = f"compare it with something, as in `{text_of(expr)} > 0`"
            return self.refuse(unit_errors.WrongKind(expr.span, "a condition", found, advice))
        return typed

    def metric(self, name: str, demanded: Demanded = _NOTHING) -> Typed | None:
        """Return a metric's expression in its declared unit. Reports its mistakes once."""
        key = (name, demanded)
        if key not in self._typed_metrics:
            metric = self.metrics[name]
            if name in self._open:
                chain = tuple(self._open[self._open.index(name) :])
                start = min(range(len(chain)), key=lambda i: self.metrics[chain[i]].span.start)
                chain = chain[start:] + chain[:start]
                return self.refuse(wrong.CircularMetric(self.metrics[chain[0]].name.span, chain))
            self._open.append(name)
            try:
                typed = self.number(metric.expr, demanded)
            finally:
                self._open.pop()
            if typed is None:
                self._declared_unit(metric)  # of two mistakes, neither hides the other
            self._typed_metrics[key] = typed and self._in_declared_unit(metric, typed, demanded)
        return self._typed_metrics[key]

    def by_repeat(self, name: str) -> Typed | None:
        """Return a metric for each repeat, where it has several values. Reports nothing."""
        typed = self._silently(lambda: self.metric(name, frozenset({"repeat"})))
        return typed if typed and has_repeats(typed.term) else None

    def side_by_repeat(self, expr: ast.Expr, demanded: Iterable[Dimension] = ("repeat",)) -> Typed | None:
        """Return a side of a comparison for each repeat, where it has any. Reports nothing."""
        return self._silently(lambda: self.number(expr, frozenset(demanded)))

    def _silently(self, typing: Callable[[], Typed | None]) -> Typed | None:
        findings, known = self.findings, self._typed_metrics
        self.findings, self._typed_metrics = Findings(), dict(known)
        try:
            return typing()
        finally:
            self.findings, self._typed_metrics = findings, known

    def is_complete(self, typed: Typed, expr: ast.Expr, where: str = "") -> bool:
        """Return whether the term can be computed: each latency has an operation, and something is planned. The message
        adds `where` when nothing is planned."""
        if self.full():
            return False
        self.parts += typed.term.size
        self.expressions += 1
        if self.full():
            many = f"{MAX_PARTS:,} parts" if self.parts > MAX_PARTS else f"{MAX_EXPRESSIONS:,} expressions"
            help_ = "compute or show less, or split the spec"
            self.report(wrong.TooComplex(expr.span, f"more than {many}", "up to here the spec is", help_))
            return False
        for leaf in leaves(typed.term):
            if isinstance(leaf, Measure) and leaf.kind.needs_operation and "operation" in leaf.offers - set(leaf.dims):
                operations = tuple(str(key) for key in offered_keys(leaf, "operation"))
                span = mention(expr, leaf.kind.name)
                self.report(wrong.NeedsOperation(span, leaf.kind.name, operations))
                return False
        if (empty := without_points(typed.term)) is not None:
            name = empty.text if isinstance(empty, Measure) else text_of(expr)
            self.report(wrong.NothingPlanned(expr.span, name, where))
            return False
        if disjoint := disjoint_parts(typed.term):
            dim, *sides = disjoint
            points = " and ".join(", ".join(_plain(key) for key in keys) for keys in sides)
            why = f"{where}: its parts share no `{dim}` ({points})"
            self.report(wrong.NothingPlanned(expr.span, text_of(expr), why))
            return False
        self._warn_of_lengths(typed.term, expr)
        return True

    def _warn_of_lengths(self, term: Term, expr: ast.Expr) -> None:
        """Warn of a number from measurements of several lengths; of a metric only at its declaration."""
        found = of_other_lengths(term, self.scope.experiments)
        if not found or any(self._is_of_other_lengths(name) for name in {each.text for each in names_in(expr)}):
            return
        lengths = tuple((each.key, *each.length) for each in found)
        self.report(evidence_errors.OtherLengths(expr.span, text_of(expr), lengths))

    def _is_of_other_lengths(self, name: str) -> bool:
        """Return whether it is a metric with that warning. Reports nothing."""
        typed = self._silently(lambda: self.metric(name)) if name in self.metrics else None
        return typed is not None and bool(of_other_lengths(typed.term, self.scope.experiments))

    def full(self) -> bool:
        """Return whether the spec has too many expressions."""
        return self.parts > MAX_PARTS or self.expressions > MAX_EXPRESSIONS

    def ranks(self, dim: Dimension) -> Mapping[Key, int]:
        """Return the rank of each key of a dimension, in the order of the experiments."""
        if dim not in self._ranks:
            declared = [hardware.key for hardware in self.scope.hardware] if dim == "hardware" else []
            keys = dict.fromkeys((*self.runs.keys(dim), *declared))
            self._ranks[dim] = {key: rank for rank, key in enumerate(keys)}
        return self._ranks[dim]

    # --- each kind of expression ---

    def _typed(self, expr: ast.Expr, demanded: Demanded) -> Typed | None:
        match expr:
            case ast.Quantity():
                return self._quantity(expr)
            case ast.Name():
                return look_up(self, expr, demanded)
            case ast.Attr(base=ast.Call() as call):
                return field_of(self, expr, call, demanded)
            case ast.Attr():
                return look_up_dotted(self, expr, demanded)
            case ast.Index():
                base = self.typed(expr.base, demanded)
                at_keys = base and index(self, base.term, expr)
                return Typed(at_keys[0], base.display) if base and at_keys else None
            case ast.Call():
                return reduction(self, expr, demanded)
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
        return self.refuse(wrong.NotAnExpression(expr.span, found))

    def _quantity(self, expr: ast.Quantity) -> Typed | None:
        try:
            unit = parse_unit(expr.unit)
        except UnknownUnitError as error:
            return self._unknown_unit(expr.unit_span or expr.span, error)
        value = unit.to_base(expr.value)
        if not math.isfinite(value):
            return self.refuse(NotFinite(expr.span))
        return Typed(Number(value, unit.dimension), unit if unit.text else None)

    def _unknown_unit(self, span: Span, error: UnknownUnitError) -> T | None:
        start = span.start + error.start
        part = Span(span.source, start, start + len(error.part))
        return self.refuse(UnknownUnit(part, error.part, error.hint))

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
                display = left.display if _is_plain(right) else right.display if _is_plain(left) else None
            case "/":
                unit = divide(left_unit, right_unit)
                display = left.display if _is_plain(right) else None
            case _:
                common = self._common_unit(expr, left, right)
                if common is None:
                    return None
                unit = common
                if expr.operator == "+" and holds_percentiles(right.term) and _unsummed(left.term):
                    ratios = common == DIMENSIONLESS
                    self.report(evidence_errors.MeanOfPercentiles(expr.span, "sum", (), ratios))
                if left.display == right.display or isinstance(right.term, Number):
                    display = left.display
        return Typed(_folded(expr.operator, left.term, right.term, unit), display)

    def _comparison(self, expr: ast.Binary, demanded: Demanded) -> Typed | None:
        left, right = self.number(expr.left, demanded), self.number(expr.right, demanded)
        if left is None or right is None or self._common_unit(expr, left, right) is None:
            return None
        for side, typed, other in ((expr.left, left, right), (expr.right, right, left)):
            shown_as_share = other.display is not None and other.display.text == "%"
            if shown_as_share and _is_bare(side) and isinstance(typed.term, Number) and abs(typed.term.value) > 1:
                self.report(unit_errors.BareShare(side.span, text_of(side), 100 * typed.term.value))
        return Typed(Operation(expr.operator, (left.term, right.term), None))

    def _common_unit(self, expr: ast.Binary, left: Typed, right: Typed) -> UnitDimension | None:
        """Return the unit of both sides. `0` has any unit."""
        if left.term.unit == right.term.unit or _is_zero(right.term):
            return left.term.unit
        if _is_zero(left.term):
            return right.term.unit
        return self.refuse(
            unit_errors.UnitMismatch(
                expr.operator_span, expr.operator, unit_of(left), unit_of(right), expr.left.span, expr.right.span
            )
        )

    def _declared_unit(self, metric: ast.Metric) -> Unit | None:
        """Return None where the metric declares no unit, or an unknown one, which is reported."""
        if metric.unit is None:
            return None
        try:
            return parse_unit(metric.unit.text)
        except UnknownUnitError as error:
            return self._unknown_unit(metric.unit.span, error)

    def _in_declared_unit(self, metric: ast.Metric, typed: Typed, demanded: Demanded) -> Typed | None:
        if metric.unit is None:
            return typed
        unit = self._declared_unit(metric)
        if unit is None:
            return None
        actual = typed.term.unit or DIMENSIONLESS
        if actual != unit.dimension:
            parts: tuple[tuple[Span, Unit | None], ...] = ()
            if isinstance(metric.expr, ast.Binary) and isinstance(typed.term, Operation):
                sides = (self.typed(side, demanded) for side in (metric.expr.left, metric.expr.right))
                spans = (metric.expr.left.span, metric.expr.right.span)
                parts = tuple((span, unit_of(side)) for span, side in zip(spans, sides, strict=True) if side)
            return self.refuse(
                unit_errors.WrongUnit(
                    metric.expr.span, metric.name.text, metric.unit.text, actual, metric.unit.span, parts
                )
            )
        return Typed(typed.term, unit)


def _plain(key: Key) -> str:
    return key if isinstance(key, str) else f"{key:,.15g}"


def _folded(operator: str, left: Term, right: Term, unit: UnitDimension) -> Term:
    if isinstance(left, Number) and isinstance(right, Number) and not (operator == "/" and right.value == 0):
        a, b = left.value, right.value
        value = {"+": a + b, "-": a - b, "*": a * b}[operator] if operator != "/" else a / b
        if math.isfinite(value):
            return Number(value, unit)
    return Operation(operator, (left, right), unit)


def _unsummed(term: Term) -> bool:
    """Return whether it has percentiles without a sum of two, which has a warning already."""
    summed = isinstance(term, Operation) and term.operator == "+" and all(map(holds_percentiles, term.operands))
    return holds_percentiles(term) and not summed


def _is_bare(expr: ast.Expr) -> bool:
    """Return whether it is a literal number without a unit."""
    match expr:
        case ast.Unary(operator="-", operand=operand):
            return _is_bare(operand)
        case ast.Quantity():
            return not expr.unit
        case _:
            return False


def _is_plain(typed: Typed) -> bool:
    """Return whether it is a number without a unit: a product with it keeps its kind."""
    return isinstance(typed.term, Number) and typed.term.unit == DIMENSIONLESS


def _is_zero(term: Term) -> bool:
    return isinstance(term, Number) and term.value == 0 and term.unit == DIMENSIONLESS

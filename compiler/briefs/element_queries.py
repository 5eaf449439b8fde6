"""The expressions of a report's elements: their queries at fixed keys, their names, and the values quoted from a
source."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal, get_args

from benchbrief.compiler.briefs import report_errors as wrong
from benchbrief.compiler.frontend.declarations import dotted, names_in, text_of
from benchbrief.compiler.measure_catalogue import AXIS_UNITS, KINDS
from benchbrief.compiler.metrics.expressions import Typer, reserved_for
from benchbrief.compiler.metrics.indexing import index, scope_key, word_of
from benchbrief.compiler.metrics.lower_to_sql import lower
from benchbrief.compiler.metrics.metric_errors import NothingPlanned, ServiceLatencyOnly, UnmergedRepeats
from benchbrief.compiler.metrics.planned_points import Runs
from benchbrief.compiler.metrics.terms import (
    Fixed,
    Measure,
    NumberTerm,
    Term,
    Typed,
    along,
    fix,
    has_repeats,
    leaves,
    offers,
    planned_keys,
)
from benchbrief.compiler.metrics.thin_evidence import value_range, warn_of_few_operations
from benchbrief.compiler.problems import Findings
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan
from benchbrief.model.plan import BETTER, Dimension, DimKey, Label, LatencyKind, Quote, Wording
from benchbrief.model.units import Dimension as UnitDimension
from benchbrief.model.units import Unit


@dataclass(frozen=True)
class FixedKeys:
    """The keys that the surrounding `each` blocks fix for a part of the report."""

    fixed: Fixed = ()

    def at(self, dim: Dimension, key: DimKey) -> FixedKeys:
        return FixedKeys((*(pair for pair in self.fixed if pair[0] != dim), (dim, key)))

    def key(self, dim: str) -> DimKey | None:
        return dict(self.fixed).get(dim)

    @property
    def words(self) -> str:
        """The fixed keys as a phrase for messages: " for workload `a`"."""
        return "".join(f" for {dim} `{_plain(key)}`" for dim, key in self.fixed)


def typed_at(typer: Typer, expr: ast.Expr, place: FixedKeys, demanded: Iterable[Dimension] = ()) -> Typed | None:
    """Return the typed expression with these keys fixed, or None after a mistake."""
    if typer.full():
        return None
    demanded = frozenset(demanded)
    typed = typer.number(expr, demanded)
    if typed is None:
        return None
    measured = [leaf.runs for leaf in leaves(typed.term) if isinstance(leaf, Measure) and leaf.runs]
    for runs in measured:
        if not runs.along(demanded):
            apart = ", ".join(f"`{dim}`" for dim in (*runs.factors, *runs.axes) if dim in demanded)
            return typer.refuse(NothingPlanned(expr.span, text_of(expr), f" by {apart} together"))
    term = along(typed.term, demanded)
    for dim, key in place.fixed:
        term = fix(term, dim, key)
    typed = Typed(term, typed.display)
    return typed if typer.is_complete(typed, expr, place.words) else None


def without_single_keys(typed: Typed, keep: Iterable[Dimension]) -> tuple[Typed, tuple[Dimension, ...]]:
    """Fix the term's dimensions that have only one planned key, except for those in `keep`. Also return the remaining
    dimensions."""
    term = typed.term
    left: list[Dimension] = []
    for dim in term.dims:
        if dim in keep:
            continue
        keys = planned_keys(term, dim)
        if keys is not None and len(keys) == 1 and dim in offers(term):
            term = fix(term, dim, keys[0])
        else:
            left.append(dim)
    return Typed(term, typed.display), tuple(left)


def query(typer: Typer, term: Term, unit: Unit, expr: ast.Expr, quote: plan.Quote | None = None) -> plan.Query:
    _warn_of_service_latency(typer, term)
    _warn_of_unmerged_repeats(typer, term)
    warn_of_few_operations(typer, term)
    lowered = query_of_repeats(typer, term, unit, expr)
    return lowered.model_copy(update={"quote": quote}) if quote else lowered


def query_of_repeats(typer: Typer, term: Term, unit: Unit, expr: ast.Expr) -> plan.Query:
    """Return the query for a value at each repeat, without the warnings that the value has already caused."""
    if not typer.planning:
        return plan.Query(sql="", dims=term.dims, unit=unit.text, text=text_of(expr))
    named = (name.text for name in sorted(names_in(expr), key=lambda name: name.span.start))
    made_of = (
        name for name in named if name in typer.metrics or reserved_for(name) == "a measure" or typer.facts.get(name)
    )
    return lower(term, unit, text_of(expr), tuple(dict.fromkeys(made_of)), typer.runs)


def _warn_of_service_latency(typer: Typer, term: Term) -> None:
    """Warn once for each experiment that offers a load but whose latency leaves out how long operations wait for their
    turn."""
    asked = {
        key
        for leaf in leaves(term)
        if isinstance(leaf, Measure) and leaf.kind.view == "latency"
        for key in leaf.runs.keys("experiment")
    }
    if not asked:
        return
    for experiment in typer.scope.experiments:
        if experiment.service_only and experiment.key in asked:
            span, tool, others = experiment.service_only
            typer.report(ServiceLatencyOnly(span, experiment.key, tool, others))


def _warn_of_unmerged_repeats(typer: Typer, term: Term) -> None:
    """Warn, once for each experiment and measure, of a percentile over several repeats if the tool's output does not
    allow the repeats to be merged."""
    for leaf in leaves(term):
        if not isinstance(leaf, Measure) or not leaf.kind.is_percentile or "repeat" not in leaf.offers - set(leaf.dims):
            continue
        asked = leaf.runs.keys("experiment")
        for experiment in typer.scope.experiments:
            if experiment.unmerged and experiment.key in asked:
                span, tool, remedy = experiment.unmerged
                typer.report(UnmergedRepeats(span, leaf.kind.name, experiment.key, tool, remedy))


def example_key(typer: Typer, term: Term, dim: Dimension) -> str:
    """Return a sample index that fixes `dim`: `nvme`, `threads: 96`."""
    keys = planned_keys(term, dim) or typer.runs.keys(dim) or ("...",)
    return str(keys[0]) if dim in typer.scope.named else f"{dim}: {key_label(typer, dim, keys[-1])}"


def examples(typer: Typer, term: Term, dims: Iterable[Dimension]) -> tuple[str, ...]:
    return tuple(example_key(typer, term, dim) for dim in dims)


def in_brackets(expr: ast.Expr) -> str:
    """Return an expression's text in brackets if it needs them before an index, or "" if it needs none."""
    return text_of(expr) if isinstance(expr, ast.Binary | ast.Unary) else ""


def runs_at(typer: Typer, place: FixedKeys) -> Runs:
    """Return the planned runs with these keys."""
    runs = typer.runs
    for dim, key in place.fixed:
        runs = runs.at(dim, key)
    return runs


def ordered(typer: Typer, dim: Dimension, keys: Iterable[DimKey]) -> tuple[DimKey, ...]:
    """Return each key once. Words are in the order of `ranks`, and numbers are in rising order."""
    ranks = typer.ranks(dim)
    return tuple(sorted({key for key in keys if key in ranks}, key=ranks.__getitem__))


def key_label(typer: Typer, dim: Dimension, key: DimKey) -> str:
    """Return the label of a key, or the digits of a number that is not a factor's level."""
    return typer.scope.labels.get(dim, {}).get(key) or _plain(key)


def plan_keys(typer: Typer, dim: Dimension, keys: Iterable[DimKey]) -> tuple[plan.LabelledKey, ...]:
    return tuple(plan.LabelledKey(value=key, label=key_label(typer, dim, key)) for key in keys)


def _plain(key: DimKey) -> str:
    return key if isinstance(key, str) else f"{key:.15g}"


def on_lone_hardware(typer: Typer, typed: Typed) -> Typed:
    """Return a term without the dimension `hardware` if factors are compared on a single hardware group."""
    lone = typer.runs.lone_hardware
    return typed if lone is None else Typed(fix(typed.term, "hardware", lone), typed.display)


def sides_by_repeat(
    typer: Typer, sides: Sequence[ast.Expr], shown: Unit | None, over: Sequence[Dimension] = ()
) -> tuple[tuple[plan.Query, ...], tuple[plan.Range, ...]]:
    """Return the queries of a comparison's two sides, in one unit, for each repeat and each key of the dimensions
    `over`. Also return the ranges of the sides' values.

    Both results are empty when no side has several repeats.
    """
    demanded = ("repeat", *over)
    typed = [on_lone_hardware(typer, found) for side in sides if (found := typer.side_by_repeat(side, demanded))]
    if len(typed) != len(sides) or not any(has_repeats(each.term) for each in typed):
        return (), ()
    unit = shown or typed[0].unit
    queries = (query_of_repeats(typer, found.term, unit, side) for found, side in zip(typed, sides, strict=True))
    ranges = ([end / unit.factor for end in value_range(found.term)] for found in typed)
    known = ((low if math.isfinite(low) else None, high if math.isfinite(high) else None) for low, high in ranges)
    return tuple(queries), tuple(known)


def named_params(expr: ast.Expr, params: Mapping[str, ast.Expr]) -> dict[str, str]:
    """Return the parameters that an expression names, directly or through other parameters, with their values as
    written in the spec."""
    found: dict[str, str] = {}
    left = [expr]
    while left:
        for name in {used.text for used in names_in(left.pop())} & params.keys() - found.keys():
            found[name] = text_of(params[name])
            left.append(params[name])
    return dict(sorted(found.items()))


_BOUNDS: dict[str, Literal["low", "high"]] = {"min": "low", "max": "high"}
_OF_NEGATIVES: dict[str, Literal["low", "high"]] = {"min": "high", "max": "low"}


def quote_of(typer: Typer, expr: ast.Expr, place: FixedKeys) -> Quote | None:
    """If the expression equals a published value, return its quote. The expression may be a metric with fixed keys, its
    negative, or the lowest or highest of either over some dimensions. Return None for other expressions, or if there is
    no plan.
    """
    if not typer.planning:
        return None
    if isinstance(expr, ast.Unary) and expr.operator == "-":
        inner = quote_of(typer, expr.operand, place)
        return inner.model_copy(update={"negated": True}) if inner and inner.bound == "value" else None
    if isinstance(expr, ast.Call):
        if expr.function.text not in _BOUNDS or expr.when or not expr.over or len(expr.arguments) != 1:
            return None
        found = quote_of(typer, expr.arguments[0].value, place)
        if found is None or found.bound != "value":
            return None
        bound = (_OF_NEGATIVES if found.negated else _BOUNDS)[expr.function.text]
        return found.model_copy(update={"bound": bound, "over": tuple(name.text for name in expr.over)})
    return _metric(typer, expr, place)


def _metric(typer: Typer, expr: ast.Expr, place: FixedKeys) -> Quote | None:
    """Return the quote of a metric if the expression is one, with or without an index."""
    keys: dict[Dimension, DimKey] = dict(place.fixed)
    base = expr.base if isinstance(expr, ast.Index) else expr
    if not isinstance(base, ast.Name) or base.text not in typer.metrics:
        return None
    if isinstance(expr, ast.Index):
        typed = typer.metric(base.text)
        at = index(typer, typed.term, expr) if typed else None
        if at is None:
            return None
        keys |= dict(at[1])
    return Quote(metric=base.text, bound="value", at=keys)


_MOST_PARTS = 4
"""The most measures and numbers in a name. More parts are easier to read as a formula."""
_ARITHMETIC = {"+": "plus", "-": "minus", "*": "times", "/": "ratio"}
_LOGIC = {"and", "or"}


def label_of(typer: Typer, expr: ast.Expr, *, exact: bool = False, shown: bool = True) -> Label:
    """Return the name of an expression. If it has too many parts, warn and return the expression's text.

    If `exact`, the name includes the points of ramps that the expression fixes. This matters only beside other names
    with such points. If not `shown`, there is no warning, since the spec gives another name.
    """
    label = _label(typer, expr, exact=exact)
    if label is not None and sum(1 for _ in _parts(label)) <= _MOST_PARTS:
        return label
    if shown:
        typer.report(wrong.NoName(expr.span, text_of(expr)))
    return text_of(expr)


def _parts(label: Label) -> Iterator[str]:
    if isinstance(label, str):
        yield label
    else:
        for part in label.of:
            yield from _parts(part)


def _label(typer: Typer, expr: ast.Expr, *, exact: bool) -> Label | None:
    """Return the name of an expression, or None for an expression that is not a number, such as a quoted text."""
    match expr:
        case ast.Name() if expr.text in typer.metrics:
            label = typer.metrics[expr.text].label
            return (label.plain if label else None) or expr.text
        case ast.Name() | ast.Attr(base=ast.Name() | ast.Attr()) | ast.Quantity():
            return text_of(expr)
        case ast.Index():
            found = _located(typer, expr)
            return None if found is None else (found if exact else _Located(found.base, found.keys)).label
        case ast.Call():
            return _reduced(typer, expr, expr.function.text)
        case ast.Attr(base=ast.Call() as call):
            return _reduced(typer, call, f"{call.function.text}_{expr.field.text}")
        case ast.Unary():
            return _made(typer, "not" if expr.operator == "not" else "negative", expr.operand)
        case ast.Binary(operator=operator) if operator in _ARITHMETIC:
            return _compared(typer, expr) or _made(typer, _form(typer, expr), expr.left, expr.right)
        case ast.Binary(operator=operator) if operator in _LOGIC:
            return _made(typer, operator, expr.left, expr.right)
        case ast.Binary():
            found_label = _made(typer, "comparison", expr.left, expr.right)
            return found_label and found_label.model_copy(update={"name": expr.operator})
        case _:
            return None


def _made(typer: Typer, form: str, *exprs: ast.Expr) -> Wording | None:
    labels = [_label(typer, each, exact=True) for each in exprs]
    if any(label is None for label in labels):
        return None
    return Wording(form=form, of=tuple(label for label in labels if label is not None))


def _form(typer: Typer, expr: ast.Binary) -> str:
    """Return the form of an operation in a name. A quotient has the form `ratio` if both sides have the same unit, and
    otherwise `divided`."""
    if expr.operator != "/":
        return _ARITHMETIC[expr.operator]
    alike = _unit(typer, expr.left) == _unit(typer, expr.right)
    return "ratio" if alike and not isinstance(expr.right, ast.Quantity) else "divided"


def _unit(typer: Typer, expr: ast.Expr) -> UnitDimension | None:
    """Return the unit of an expression. Its mistakes have been reported already."""
    findings, typer.findings = typer.findings, Findings()
    try:
        typed = typer.number(expr)
    finally:
        typer.findings = findings
    return typed.term.unit if typed else None


def _reduced(typer: Typer, call: ast.Call, function: str) -> Label | None:
    if not call.arguments:
        return None
    values = [argument.value for argument in call.arguments if argument.key is None]
    labels = [_label(typer, value, exact=True) for value in values]
    if any(label is None for label in labels):
        return None
    over = tuple(name.text for name in call.over)
    found = Wording(form="reduced", name=function, of=tuple(label for label in labels if label is not None), over=over)
    if call.when is None:
        return found
    when = _label(typer, call.when, exact=True)
    return Wording(form="where", of=(found, when)) if when is not None else None


def is_change(typer: Typer, expr: ast.Expr) -> bool:
    """Return whether an expression is a relative change: `a / b - 1` or `(a - b) / b`, possibly with an index, in a
    reduction, or as a metric without a unit."""
    match expr:
        case ast.Index(base=inner) | ast.Call(arguments=[ast.Argument(value=inner)]):
            return is_change(typer, inner)
        case ast.Name() if expr.text in typer.metrics:
            metric = typer.metrics[expr.text]
            return metric.unit is None and is_change(typer, metric.expr)
        case (
            ast.Binary(operator="-", left=ast.Binary(operator="/"), right=ast.Quantity(value=1, unit=""))
            | ast.Binary(operator="-", left=ast.Quantity(value=1, unit=""), right=ast.Binary(operator="/"))
        ):
            return True
        case ast.Binary(operator="/", left=ast.Binary(operator="-", right=one), right=other):
            return text_of(one) == text_of(other)
        case _:
            return False


def better_side(typer: Typer, expr: ast.Expr) -> Literal["higher", "lower"] | None:
    """Return whether higher or lower is better for a metric or a measure, with or without an index, or for its highest,
    lowest or mean value. Return the opposite for its negative, and None for other expressions."""
    sides: list[Literal["higher", "lower"]] = ["higher", "lower"]
    while True:
        match expr:
            case ast.Unary(operator="-", operand=expr):
                sides.reverse()
            case ast.Index(base=base):
                expr = base
            case ast.Call(
                function=ast.Name(text="max" | "min" | "mean" | "median"), arguments=[argument], over=[_, *_]
            ):
                expr = argument.value
            case _:
                break
    name = text_of(expr).partition(".")[0]
    metric = typer.metrics.get(name)
    better = metric.better if metric is not None else BETTER.get(name)
    return sides[0] if better == "higher" else sides[1] if better == "lower" else None


# --- the same quantity at two places ---


@dataclass(frozen=True)
class _Located:
    """A quantity, the labels of its fixed keys, and the points of ramps that fix it."""

    base: Label
    keys: tuple[str, ...] = ()
    points: tuple[tuple[Dimension, float], ...] = ()

    @property
    def label(self) -> Label:
        if isinstance(self.base, str) and not self.points:
            return ", ".join((self.base, *self.keys))
        return Wording(form="at", of=(self.base, *self.keys), points=self.points) if self.is_fixed else self.base

    @property
    def place(self) -> Label:
        return Wording(form="at", of=self.keys, points=self.points) if self.points else ", ".join(self.keys)

    @property
    def is_fixed(self) -> bool:
        return bool(self.keys or self.points)

    def without(self, keys: Sequence[str], points: Sequence[tuple[Dimension, float]]) -> _Located:
        return replace(
            self,
            keys=tuple(key for key in self.keys if key not in keys),
            points=tuple(point for point in self.points if point not in points),
        )


def _located(typer: Typer, expr: ast.Expr) -> _Located | None:
    if not isinstance(expr, ast.Index):
        label = _label(typer, expr, exact=True)
        return _Located(label) if label is not None else None
    found = _located(typer, expr.base)
    if found is None:
        return None
    operations: list[str] = []
    keys: list[str] = []
    points: list[tuple[Dimension, float]] = []
    for argument in expr.arguments:
        named = labelled_key(typer, argument)
        dim = argument.key.text if argument.key else ""
        if named and named[0] == "operation":
            operations.append(str(named[1]))
        elif named is None and argument.key is None and word_of(argument.value) in get_args(LatencyKind):
            operations.append(str(word_of(argument.value)))
        elif named:
            factor = typer.scope.factors_by_name.get(named[0])
            bare = f"{factor.label} " if factor and factor.unit == "" else ""
            keys.append(bare + key_label(typer, *named))
        elif dim in AXIS_UNITS and isinstance(argument.value, ast.Quantity):
            points.append((dim, argument.value.value))
    base = found.base
    if operations and isinstance(base, str):
        listed = ", ".join(operations)
        base += f"[{listed}]" if dotted(expr.base) in KINDS else f", {listed}"
    return _Located(base, (*found.keys, *keys), (*found.points, *points))


def labelled_key(typer: Typer, argument: ast.Argument) -> tuple[Dimension, DimKey] | None:
    """Return the dimension and the key of an argument whose key has a label: a word, or a number of a factor."""
    said = argument.key.text if argument.key else None
    if said in typer.scope.numeric_factors:
        typed = typer.number(argument.value)
        return (said, typed.term.value) if typed and isinstance(typed.term, NumberTerm) else None
    word = word_of(argument.value)
    if word is None:
        return None
    for dim in (dim for dim in typer.scope.named if said in (None, dim)):
        key = scope_key(typer.scope, dim, word)
        if key is not None:
            return dim, key
    return None


def _compared(typer: Typer, expr: ast.Binary) -> Wording | None:
    """Recognise `a / b`, `a / b - 1`, `1 - a / b` and `(a - b) / b` if `a` and `b` are the same quantity with different
    keys."""
    form, above, below = "shared_ratio", expr.left, expr.right
    one: ast.Quantity | None = None
    match expr:
        case ast.Binary(operator="-", left=ast.Binary(operator="/", left=a, right=b), right=ast.Quantity() as number):
            form, above, below, one = "change", a, b, number
        case ast.Binary(operator="-", left=ast.Quantity() as number, right=ast.Binary(operator="/", left=a, right=b)):
            form, above, below, one = "reduction", a, b, number
        case ast.Binary(operator="/", left=ast.Binary(operator="-", left=a, right=b), right=c) if text_of(b) == text_of(
            c
        ):
            form, above, below = "change", a, b
        case ast.Binary(operator="/"):
            pass
        case _:
            return None
    if one is not None and (one.value, one.unit) != (1, ""):
        return None
    of, against = _located(typer, above), _located(typer, below)
    if of is None or against is None or of.base != against.base or of == against or not against.is_fixed:
        return None
    common = [key for key in of.keys if key in against.keys], [point for point in of.points if point in against.points]
    shared = _Located(of.base, tuple(common[0]), tuple(common[1]))
    of, against = of.without(*common), against.without(*common)
    if not against.is_fixed:
        return None
    return Wording(form=form, of=(shared.label, against.place, *([of.place] if of.is_fixed else [])))

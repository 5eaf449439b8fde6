"""Matches expressions with published values: a source often gives a metric, and not its parts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, cast

from benchbrief.compiler.frontend.declarations import names_in, text_of
from benchbrief.compiler.measure_catalogue import DIMENSIONS, NAMED
from benchbrief.compiler.metrics.expressions import Typer
from benchbrief.compiler.metrics.indexing import index
from benchbrief.compiler.metrics.lower_to_sql import lower
from benchbrief.compiler.metrics.metric_errors import ServiceLatencyOnly, UnmergedRepeats
from benchbrief.compiler.metrics.planned_points import Runs
from benchbrief.compiler.metrics.terms import (
    Fixed,
    Measure,
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
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan
from benchbrief.model.plan import Dimension, Quote
from benchbrief.model.points import DimKey
from benchbrief.model.units import Unit


@dataclass(frozen=True)
class Place:
    """A place in the report, with the keys that the surrounding `each` blocks fix."""

    fixed: Fixed = ()

    def at(self, dim: Dimension, key: DimKey) -> Place:
        return Place((*(pair for pair in self.fixed if pair[0] != dim), (dim, key)))

    def key(self, dim: str) -> DimKey | None:
        return dict(self.fixed).get(cast(Dimension, dim))

    @property
    def words(self) -> str:
        """The fixed keys for messages: " for workload `a`"."""
        return "".join(f" for {dim} `{_plain(key)}`" for dim, key in self.fixed)


def dimension(word: str) -> Dimension | None:
    return next((dim for dim in DIMENSIONS if dim == word), None)


def typed_at(typer: Typer, expr: ast.Expr, place: Place, demanded: Iterable[Dimension] = ()) -> Typed | None:
    """Return the typed expression with the place's keys fixed; None after a mistake."""
    if typer.full():
        return None
    demanded = frozenset(demanded)
    typed = typer.number(expr, demanded)
    if typed is None:
        return None
    term = along(typed.term, demanded)
    for dim, key in place.fixed:
        term = fix(term, dim, key)
    typed = Typed(term, typed.display)
    return typed if typer.is_complete(typed, expr, place.words) else None


def without_single_keys(typed: Typed, keep: Iterable[Dimension]) -> tuple[Typed, tuple[Dimension, ...]]:
    """Fix the term's dimensions of a single planned key, except those to keep. Returns the remaining dimensions too."""
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


def query(typer: Typer, term: Term, unit: Unit, text: str, quote: plan.Quote | None = None) -> plan.Query:
    _warn_of_service_latency(typer, term)
    _warn_of_unmerged_repeats(typer, term)
    warn_of_few_operations(typer, term)
    lowered = query_of_repeats(typer, term, unit, text)
    return lowered.model_copy(update={"quote": quote}) if quote and typer.planning else lowered


def query_of_repeats(typer: Typer, term: Term, unit: Unit, text: str) -> plan.Query:
    """The same without warnings: the repeats are kept beside a value that has them."""
    if not typer.planning:
        return plan.Query(sql="", dims=term.dims, unit=unit.text, text=text)
    return lower(term, unit, text, typer.runs)


def _warn_of_service_latency(typer: Typer, term: Term) -> None:
    """Warn once for each experiment whose latency at an offered load omits the time an operation waits for its turn."""
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
    """Warn once for each experiment and measure: a percentile over repeats that each have printed percentiles alone."""
    for leaf in leaves(term):
        if not isinstance(leaf, Measure) or not leaf.kind.is_percentile or "repeat" not in leaf.offers - set(leaf.dims):
            continue
        asked = leaf.runs.keys("experiment")
        for experiment in typer.scope.experiments:
            if experiment.unmerged and experiment.key in asked:
                span, tool = experiment.unmerged
                typer.report(UnmergedRepeats(span, leaf.kind.name, experiment.key, tool))


def example_key(typer: Typer, term: Term, dim: Dimension) -> str:
    """Return a sample index that fixes `dim`: `nvme`, `threads: 96`."""
    keys = planned_keys(term, dim) or typer.runs.keys(dim) or ("...",)
    return _plain(keys[0]) if dim in NAMED else f"{dim}: {_plain(keys[-1])}"


def examples(typer: Typer, term: Term, dims: Iterable[Dimension]) -> tuple[str, ...]:
    return tuple(example_key(typer, term, dim) for dim in dims)


def runs_at(typer: Typer, place: Place) -> Runs:
    """Return the planned runs at the place."""
    runs = typer.runs
    for dim, key in place.fixed:
        runs = runs.at(dim, key)
    return runs


def ordered(typer: Typer, dim: Dimension, keys: Iterable[DimKey]) -> tuple[DimKey, ...]:
    """Return the keys once each, in the order of the experiments; numbers rise."""
    ranks = typer.ranks(dim)
    return tuple(sorted({key for key in keys if key in ranks}, key=ranks.__getitem__))


def key_label(typer: Typer, dim: Dimension, key: DimKey) -> str:
    """Return the label of a key. A number has its digits."""
    match dim:
        case "hardware" | "workload" | "experiment":
            return typer.scope.labels[dim].get(str(key), str(key))
        case _:
            return _plain(key)


def plan_keys(typer: Typer, dim: Dimension, keys: Iterable[DimKey]) -> tuple[plan.LabelledKey, ...]:
    return tuple(plan.LabelledKey(value=key, label=key_label(typer, dim, key)) for key in keys)


def _plain(key: DimKey) -> str:
    return key if isinstance(key, str) else f"{key:.15g}"


def sides_by_repeat(
    typer: Typer, sides: Sequence[ast.Expr], shown: Unit | None
) -> tuple[tuple[plan.Query, ...], tuple[plan.Range, ...]]:
    """Return both sides of a comparison for each repeat, in one unit, with the ranges of their values; none where no
    side has several."""
    typed = [found for side in sides if (found := typer.side_by_repeat(side))]
    if len(typed) != len(sides) or not any(has_repeats(each.term) for each in typed):
        return (), ()
    texts = map(text_of, sides)
    unit = shown or typed[0].unit
    queries = (query_of_repeats(typer, found.term, unit, text) for found, text in zip(typed, texts, strict=True))
    ranges = ([end / unit.factor for end in value_range(found.term)] for found in typed)
    known = ((low if math.isfinite(low) else None, high if math.isfinite(high) else None) for low, high in ranges)
    return tuple(queries), tuple(known)


def named_params(expr: ast.Expr, params: Mapping[str, ast.Expr]) -> dict[str, str]:
    """Return the parameters that an expression names, directly or by one another, with their written values."""
    found: dict[str, str] = {}
    left = [expr]
    while left:
        for name in {used.text for used in names_in(left.pop())} & params.keys() - found.keys():
            found[name] = text_of(params[name])
            left.append(params[name])
    return dict(sorted(found.items()))


_BOUNDS: dict[str, Literal["low", "high"]] = {"min": "low", "max": "high"}


def quote_of(typer: Typer, expr: ast.Expr, place: Place) -> Quote | None:
    """Return the published value that a typed expression equals: a metric at a place, its negative, or its lowest or
    highest over some dimensions. None for any other expression."""
    if isinstance(expr, ast.Unary) and expr.operator == "-":
        inner = quote_of(typer, expr.operand, place)
        return inner.model_copy(update={"negated": True}) if inner and inner.bound == "value" else None
    if isinstance(expr, ast.Call):
        bound = _BOUNDS.get(expr.function.text)
        if bound is None or expr.when or not expr.over or len(expr.arguments) != 1:
            return None
        over = tuple(dim for name in expr.over if (dim := dimension(name.text)))
        found = _metric(typer, expr.arguments[0].value, place)
        return found and found.model_copy(update={"bound": bound, "over": over})
    return _metric(typer, expr, place)


def _metric(typer: Typer, expr: ast.Expr, place: Place) -> Quote | None:
    """Return the name of a metric, with or without an index."""
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

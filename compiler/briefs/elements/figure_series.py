"""The series of a figure, lowered for the plan with one unit for each axis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, cast

from benchbrief.compiler.briefs import report_errors as wrong
from benchbrief.compiler.briefs.elements.element_queries import dimension, ordered, plan_keys, query
from benchbrief.compiler.briefs.elements.expression_wordings import label_of
from benchbrief.compiler.frontend.declared_names import text_of
from benchbrief.compiler.measure_catalogue import AXIS_UNITS, SAMPLED, Key
from benchbrief.compiler.metrics.typing.expressions import Typer
from benchbrief.compiler.metrics.typing.terms import Reduction, Spread, Term, planned_keys
from benchbrief.compiler.metrics.typing.typed_expression import Typed
from benchbrief.compiler.planning import plan
from benchbrief.compiler.planning.plan import Dimension
from benchbrief.compiler.units import DIMENSIONLESS, Unit, parse_unit
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast

FigureAxis = Literal["left", "right", "x"]


@dataclass(frozen=True)
class DrawnSeries:
    """A series before lowering. `along` is the place of its axis, `x` the other expression of a curve."""

    mark: Literal["line", "bar", "curve", "rule"]
    expr: ast.Expr
    typed: Typed
    label: plan.Label
    along: ast.Name | None
    color: ast.Name | None
    x: tuple[ast.Expr, Typed] | None
    axis: Literal["left", "right"]
    dashed: bool
    repeats: Typed | None
    """The query for each repeat, for a band."""
    quote: plan.Quote | None

    @property
    def x_dim(self) -> Dimension | None:
        return dimension(self.along.text) if self.along else None

    @property
    def color_dim(self) -> Dimension | None:
        return dimension(self.color.text) if self.color else None


@dataclass
class FigureAxes:
    """The unit of each axis, from its first series, with its place."""

    units: dict[FigureAxis, tuple[Unit, Span]] = field(default_factory=dict)

    def unit(self, typer: Typer, axis: FigureAxis, typed: Typed, span: Span) -> Unit | None:
        """Return the unit of a series on `axis`; None when it can't be converted."""
        unit, first = self.units.setdefault(axis, (typed.unit, span))
        if unit.dimension == typed.unit.dimension:
            return unit
        here, there = (f"`{u.text}`" if u.text else "a plain number" for u in (typed.unit, unit))
        return typer.refuse(wrong.AxisUnits(span, first, here, there))


def lowered_series(
    typer: Typer, drawn: list[DrawnSeries], panel: ast.Name | None
) -> tuple[tuple[plan.Series, ...], dict[Dimension, tuple[Key, ...]]] | None:
    keys: dict[Dimension, tuple[Key, ...]] = {}
    for one in drawn:
        for dim in (one.x_dim, one.color_dim, dimension(panel.text) if panel else None):
            if dim is not None and dim not in SAMPLED and dim in one.typed.term.dims:
                found = {*keys.get(dim, ()), *(planned_keys(one.typed.term, dim) or ())}
                keys[dim] = ordered(typer, dim, found)
    axes = FigureAxes()
    series = [_plan_series(typer, one, axes, keys, drawn) for one in drawn]
    if any(one is None for one in series):
        return None
    for one in drawn:
        points = keys.get(one.x_dim, ()) if one.x_dim else ()
        if one.mark in ("line", "curve") and one.along is not None and len(points) == 1:
            point = str(plan_keys(typer, cast(Dimension, one.x_dim), points)[0].label)
            typer.report(wrong.SinglePoint(one.along.span, one.along.text, point))
    return tuple(one for one in series if one is not None), keys


def _plan_series(
    typer: Typer,
    one: DrawnSeries,
    axes: FigureAxes,
    keys: Mapping[Dimension, tuple[Key, ...]],
    drawn: list[DrawnSeries],
) -> plan.Series | None:
    typed, x_dim = one.typed, one.x_dim
    if one.mark == "rule":
        x_dim = _across(typed, drawn)
        if x_dim is not None:  # a mark on the x axis has its unit by nature
            return plan.Series(
                mark="rule",
                query=query(typer, typed.term, parse_unit(AXIS_UNITS[x_dim]), text_of(one.expr)),
                label=one.label,
                x_dim=x_dim,
                color_dim=one.color_dim,
                dashed=one.dashed,
            )
    elif x_dim is not None and x_dim not in typed.term.dims:
        beside = tuple(d.typed.term for d in drawn if x_dim in d.typed.term.dims) if x_dim in SAMPLED else ()
        typed = replace(typed, term=Spread(typed.term, x_dim, keys.get(x_dim, ()), beside))
    unit = axes.unit(typer, one.axis, typed, one.expr.span)
    x_query, x_label = None, cast(plan.Label, "")
    if one.x is not None:
        x_unit = axes.unit(typer, "x", one.x[1], one.x[0].span)
        if x_unit is None:
            return None
        x_query = query(typer, one.x[1].term, x_unit, text_of(one.x[0]))
        x_label = label_of(typer, one.x[0])
    if unit is None:
        return None
    repeats = query(typer, one.repeats.term, unit, text_of(one.expr)) if one.repeats else None
    return plan.Series(
        mark=one.mark,
        query=query(typer, typed.term, unit, text_of(one.expr), one.quote),
        label=one.label,
        x_dim=x_dim,
        x_query=x_query,
        x_label=x_label,
        color_dim=one.color_dim,
        axis=one.axis,
        dashed=one.dashed,
        band=repeats is not None,
        repeats=repeats,
    )


def _across(typed: Typed, drawn: list[DrawnSeries]) -> Dimension | None:
    """Return the x dimension of a mark: the one in its unit, unless the values are in that unit."""
    place = _place(typed.term)
    if place is not None and any(other.x_dim == place for other in drawn):
        return place
    if typed.term.unit == DIMENSIONLESS:
        return None
    for other in drawn:
        if other.mark in ("line", "bar") and other.x_dim is not None and other.x_dim in AXIS_UNITS:
            unit = parse_unit(AXIS_UNITS[other.x_dim]).dimension
            on_axis = [d for d in drawn if d.mark != "rule" and d.typed.term.unit == typed.term.unit]
            if unit == typed.term.unit and (not on_axis or other.x_dim == "target"):
                return other.x_dim
    return None


def _place(term: Term) -> Dimension | None:
    """Return the dimension that a number is a point of, as a knee is."""
    match term:
        case Reduction(function="knee"):
            return term.over[0]
        case Reduction(function="max" | "min" | "median" | "mean"):
            return _place(term.operand)
        case _:
            return None

"""Matches expressions with published values: a source often gives a metric, and not its parts."""

from __future__ import annotations

from typing import Literal

from benchbrief.compiler.briefs.elements.element_queries import Place, dimension
from benchbrief.compiler.measure_catalogue import Key
from benchbrief.compiler.metrics.typing.expressions import Typer
from benchbrief.compiler.metrics.typing.indexing import index
from benchbrief.compiler.planning.plan import Dimension, Quote
from benchbrief.dsl.syntax import ast

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
    keys: dict[Dimension, Key] = dict(place.fixed)
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

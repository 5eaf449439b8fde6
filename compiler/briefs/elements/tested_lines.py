"""`compare`: what a table of contenders needs beside its numbers, so that their repeats can be tested."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from benchbrief.compiler.briefs import report_errors as wrong
from benchbrief.compiler.briefs.elements.element_queries import Place, dimension, query_of_repeats, without_single_keys
from benchbrief.compiler.frontend.declared_names import text_of
from benchbrief.compiler.measure_catalogue import Key
from benchbrief.compiler.metrics.typing.expressions import Typer
from benchbrief.compiler.metrics.typing.repeat_functions import holds_percentiles
from benchbrief.compiler.metrics.typing.terms import along, fix, has_repeats
from benchbrief.compiler.metrics.typing.typed_expression import Typed
from benchbrief.compiler.planning import plan
from benchbrief.compiler.planning.plan import Dimension
from benchbrief.compiler.units import Unit
from benchbrief.dsl.syntax import ast

CONTENDERS: Dimension = "hardware"
"""What is compared. Of workloads and points of a ramp, a difference would be that of the load."""
_BETTER: dict[str, Literal["higher", "lower"]] = {"throughput": "higher", "latency": "lower", "errors": "lower"}


def has_contenders(typer: Typer, columns: Sequence[ast.Expr]) -> bool:
    """Return whether each column is `... by hardware`. Reports others."""
    found: list[tuple[ast.Expr, list[str]]] = []
    for value in columns:
        if isinstance(value, ast.By) and value.keyword == "by":
            found.append((value, [name.text for name in value.dimensions]))
        elif isinstance(value, ast.Name) and dimension(value.text) and found:
            found[-1][1].append(value.text)  # `throughput by hardware, threads`
        elif not isinstance(value, ast.Option):
            found.append((value, []))
    others = [(value, names) for value, names in found if names != [CONTENDERS]]
    for value, names in others:
        by = " and ".join(f"`{name}`" for name in names)
        why = f"is by {by}, and not by `hardware` alone" if names else "does not say what is compared"
        typer.report(wrong.NoContenders(value.span, why))
    return not others


def tested(typer: Typer, expr: ast.Expr, typed: Typed, unit: Unit, place: Place, dim: Dimension) -> plan.Tested:
    """Return how a line is tested, with a warning where it is measured once. `typed` is the line's value."""
    shown: tuple[Dimension, ...] = (dim, "repeat")
    repeated = typer.side_by_repeat(expr, (*shown, CONTENDERS))
    better = _better(typer, expr)
    of, percentile = text_of(expr), holds_percentiles(typed.term)
    if repeated is None:
        return plan.Tested(of=of, percentile=percentile, better=better)
    term = along(repeated.term, (*shown, CONTENDERS))
    fixed: tuple[tuple[Dimension, Key], ...] = place.fixed
    for other, key in fixed:
        term = fix(term, other, key)
    each, left = without_single_keys(Typed(term, repeated.display), shown)
    if left or not has_repeats(each.term):
        typer.report(wrong.ComparedOnce(expr.span, of))
        return plan.Tested(of=of, percentile=percentile, better=better)
    repeats = query_of_repeats(typer, each.term, unit, of)
    return plan.Tested(of=of, repeats=repeats, percentile=percentile, better=better)


def _better(typer: Typer, expr: ast.Expr) -> Literal["higher", "lower"] | None:
    """Return the better direction of a metric or a measure, at a point or not; None for other expressions."""
    while isinstance(expr, ast.Index):
        expr = expr.base
    name = text_of(expr).partition(".")[0]
    metric = typer.metrics.get(name)
    if metric is not None:
        return "higher" if metric.better == "higher" else "lower" if metric.better == "lower" else None
    return _BETTER.get(name)

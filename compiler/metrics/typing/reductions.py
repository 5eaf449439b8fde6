"""Reductions: `max(throughput over threads, when errors < 1 %)`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from benchbrief.compiler.frontend.declared_names import text_of
from benchbrief.compiler.measure_catalogue import DIMENSIONS, ORDERED, SAMPLED
from benchbrief.compiler.metrics import evidence_errors
from benchbrief.compiler.metrics import metric_errors as wrong
from benchbrief.compiler.metrics.typing.curves import CURVES, curve, with_keys_of
from benchbrief.compiler.metrics.typing.indexing import yet_to_be_found
from benchbrief.compiler.metrics.typing.lookups import FUNCTIONS
from benchbrief.compiler.metrics.typing.repeat_functions import SPREADS, holds_percentiles, p_value, spread
from benchbrief.compiler.metrics.typing.terms import AxisValue, Measure, Reduction, Spread, Term, along, planned_keys
from benchbrief.compiler.metrics.typing.typed_expression import Demanded, Typed
from benchbrief.compiler.planning.plan import Dimension
from benchbrief.compiler.units import DIMENSIONLESS
from benchbrief.dsl.syntax import ast

if TYPE_CHECKING:
    from benchbrief.compiler.metrics.typing.expressions import Typer


def reduction(typer: Typer, expr: ast.Call, demanded: Demanded) -> Typed | None:
    function = expr.function.text
    if function in CURVES:
        return curve(typer, expr, demanded)
    if function == "p_value":
        return p_value(typer, expr, demanded)
    if function == "range":
        advice = "use `min` and `max`; `range` can be used alone in a hole, as in `{range(gain over threads):.0f}`"
        return typer.refuse(wrong.BadReduction(expr.span, function, "gives two numbers", advice))
    if function not in FUNCTIONS:
        return typer.refuse(wrong.UnknownFunction(expr.function.span, "function", function, (*FUNCTIONS, "range")))
    over = _over(typer, expr)
    if over is None:
        return None
    inner = demanded | set(over)
    operand = typer.number(expr.arguments[0].value, inner)
    when = typer.condition(expr.when, inner) if expr.when else None
    if operand is None or (expr.when and when is None):
        return None
    operand = Typed(along(operand.term, over), operand.display)
    condition = with_keys_of(along(when.term, over), operand.term) if when else None
    if condition is not None and isinstance(operand.term, AxisValue):
        operand = Typed(_beside_condition(operand.term, condition), operand.display)
    return _reduced(typer, expr, operand, over, condition)


def _beside_condition(axis: Term, condition: Term) -> Term:
    """Return the points of an axis for each key of the condition's other dimensions. `max(target over target, when
    latency.p99[read] < 5 ms)` is the largest offered load that holds, for each."""
    for dim in condition.dims:
        if dim not in axis.dims and (keys := planned_keys(condition, dim)):
            axis = Spread(axis, dim, keys)
    return axis


def _over(typer: Typer, expr: ast.Call) -> tuple[Dimension, ...] | None:
    function = expr.function.text
    why = ""
    named = [argument.key for argument in expr.arguments if argument.key is not None]
    if expr.over and named:
        return typer.refuse(wrong.UnknownArgument(named[0].span, function, named[0].text, ()))
    if len(expr.arguments) != 1 or named:
        why = "takes one expression"
    elif not expr.over:
        why = "needs a dimension after `over`"
    elif function in ("first", "last") and len(expr.over) > 1:
        why = "takes one dimension"
    if why:
        usage = f"write `{function}(throughput over threads)`"
        return typer.refuse(wrong.BadReduction(expr.span, function, why, usage))
    for name in expr.over:
        if name.text not in DIMENSIONS:
            return typer.refuse(wrong.UnknownDimension(name.span, "dimension", name.text, DIMENSIONS))
        if function in ("first", "last") and name.text not in ORDERED:
            why = f"needs a dimension with an order, and `{name.text}` has none"
            return typer.refuse(wrong.BadReduction(name.span, function, why, "use `min` or `max`"))
    return cast("tuple[Dimension, ...]", tuple(dict.fromkeys(name.text for name in expr.over)))


def _reduced(
    typer: Typer, expr: ast.Call, operand: Typed, over: tuple[Dimension, ...], when: Term | None
) -> Typed | None:
    function, inner = expr.function.text, expr.arguments[0].value
    term = operand.term
    for name in expr.over:
        if name.text not in term.dims:
            if search := yet_to_be_found(term, name.text):
                return typer.refuse(wrong.PointNotKnown(name.span, text_of(inner), name.text, search))
            return typer.refuse(wrong.DimensionAbsent(name.span, text_of(inner), name.text, term.dims))
    if when is not None and expr.when is not None and set(when.dims) - set(term.dims):
        extra = tuple(dim for dim in when.dims if dim not in term.dims)
        return typer.refuse(wrong.ConditionDimension(expr.when.span, extra, text_of(inner)))
    if function in ("mean", "sum", "median") and holds_percentiles(term):
        typer.report(evidence_errors.MeanOfPercentiles(expr.span, function, over, ratios=term.unit == DIMENSIONLESS))
    if function in SPREADS:
        return spread(typer, expr, operand, over, when)
    display = operand.display if function != "count" else None
    sampled, planned = [d for d in over if d in SAMPLED], [d for d in over if d not in SAMPLED]
    if function == "mean" and when is None and sampled == ["time"] and isinstance(term, Measure):
        # The measure itself: the mean of readings, of which some seconds have more than others.
        term = replace(term, demanded=term.demanded - {"time"})
        return Typed(Reduction(function, term, tuple(planned), None) if planned else term, display)
    if not sampled or not planned:
        return Typed(Reduction(function, term, over, when), display)
    # Samples first: a gap in them is skipped, while a planned point without a value makes the result unknown.
    if function == "median" or when is not None:
        first, then = ", ".join(sampled), ", ".join(planned)
        advice = f"reduce one after the other: `{function}({function}(... over {first}) over {then})`"
        why = "can't reduce samples and planned points at once"
        return typer.refuse(wrong.BadReduction(expr.span, function, why, advice))
    within = Reduction(function, term, tuple(sampled), None)
    return Typed(Reduction("sum" if function == "count" else function, within, tuple(planned), None), display)

"""Functions of repeats: `cv` and `ci`, their spread, and `p_value`, whether two sets differ.

They keep the values of the repeats apart, percentiles too: these are never averaged into a shown number.
`results/statistics/significance.py` computes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchbrief.compiler.frontend.declarations import text_of
from benchbrief.compiler.measure_catalogue import SAMPLED
from benchbrief.compiler.metrics import metric_errors
from benchbrief.compiler.metrics import metric_errors as wrong
from benchbrief.compiler.metrics.terms import (
    Demanded,
    Dims,
    Measure,
    Operation,
    Reduction,
    Term,
    Typed,
    along,
    offered_keys,
)
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model.plan import Dimension
from benchbrief.model.units import DIMENSIONLESS

if TYPE_CHECKING:
    from benchbrief.compiler.metrics.expressions import Typer

SPREADS = ("cv", "ci")


def spread(typer: Typer, expr: ast.Call, operand: Typed, over: Dims, when: Term | None) -> Typed | None:
    """Return `cv` or `ci` of an operand with the dimensions `over`; None after a mistake."""
    function, inner, term = expr.function.text, text_of(expr.arguments[0].value), operand.term
    why = usage = ""
    if function == "ci" and over != ("repeat",):
        why, usage = (
            "needs `over repeat`: only repeats are independent of each other",
            f"write `ci({inner} over repeat)`",
        )
    elif function == "ci" and when is not None:
        why, usage = "takes no condition: it needs all repeats", f"write `ci({inner} over repeat)`"
    elif SAMPLED.intersection(over) and not SAMPLED.issuperset(over):
        sampled = ", ".join(dim for dim in over if dim in SAMPLED)
        why, usage = "can't go over samples and planned points at once", f"reduce first: `mean(... over {sampled})`"
    if why:
        return typer.refuse(wrong.BadReduction(expr.span, function, why, usage))
    _repeated(typer, expr.function.span, function, term, over)
    if function == "ci":
        return Typed(Operation("half_width", (Reduction("list", term, over, None),), term.unit), operand.display)
    parts = (Reduction("sd", term, over, when), Reduction("mean", term, over, when))
    return Typed(Operation("/", parts, DIMENSIONLESS))


def p_value(typer: Typer, expr: ast.Call, demanded: Demanded) -> Typed | None:
    """Return `p_value(throughput[a], throughput[b])` over their repeats; None after a mistake."""
    usage = "write `p_value(throughput[one], throughput[other])`"
    why = ""
    if len(expr.arguments) != 2 or any(argument.key is not None for argument in expr.arguments):
        why = "takes two expressions"
    elif expr.over:
        why = "takes no `over`: it uses the repeats"
    elif expr.when is not None:
        why = "takes no condition: it needs all repeats"
    if why:
        return typer.refuse(wrong.BadReduction(expr.span, "p_value", why, usage))
    sides = [typer.number(argument.value, demanded | {"repeat"}) for argument in expr.arguments]
    left, right = sides
    if left is None or right is None:
        return None
    if left.term.unit != right.term.unit:
        units = " and ".join(metric_errors.unit_words(side.term.unit or DIMENSIONLESS) for side in (left, right))
        why = f"compares two values of one kind, and these are {units}"
        return typer.refuse(wrong.BadReduction(expr.span, "p_value", why, usage))
    lists: list[Reduction] = []
    repeat: tuple[Dimension, ...] = ("repeat",)
    for side, argument in zip((left, right), expr.arguments, strict=True):
        term = along(side.term, repeat)
        if "repeat" not in term.dims:
            why = f"needs measured values, and `{text_of(argument.value)}` has no repeats"
            return typer.refuse(wrong.BadReduction(argument.span, "p_value", why, usage))
        if not any(len(offered_keys(each.operand, "repeat")) < 2 for each in lists):  # one warning for both sides
            _repeated(typer, argument.span, "p_value", term, repeat)
        lists.append(Reduction("list", term, repeat, None))
    percentiles = any(holds_percentiles(side.term) for side in (left, right))
    operator = "p_value of percentiles" if percentiles else "p_value"
    return Typed(Operation(operator, tuple(lists), DIMENSIONLESS))


def _repeated(typer: Typer, span: Span, function: str, term: Term, over: Dims) -> None:
    if over == ("repeat",) and len(offered_keys(term, "repeat")) < 2:
        typer.report(metric_errors.FewRepeats(span, function))


def holds_percentiles(term: Term) -> bool:
    """Return whether its values are, or come from, percentiles."""
    match term:
        case Measure():
            return term.kind.is_percentile
        case Operation():
            return any(holds_percentiles(operand) for operand in term.operands)
        case Reduction(function="max" | "min" | "first" | "last" | "median"):
            return holds_percentiles(term.operand)
        case _:
            return False

"""`formula metric for key, ...`: the arithmetic of a metric with the numbers of one key."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchbrief.compiler.briefs import report_errors as wrong
from benchbrief.compiler.briefs.elements.element_queries import (
    Place,
    examples,
    key_label,
    query,
    typed_at,
    without_single_keys,
)
from benchbrief.compiler.briefs.elements.expression_wordings import label_of
from benchbrief.compiler.frontend.declared_names import text_of
from benchbrief.compiler.metrics.typing.expressions import Typer
from benchbrief.compiler.metrics.typing.indexing import index
from benchbrief.compiler.metrics.typing.terms import Fixed
from benchbrief.compiler.planning import plan
from benchbrief.compiler.planning.plan import Dimension
from benchbrief.dsl.syntax import ast

_SIGNS = {"+": ("+", 1), "-": ("−", 1), "*": ("×", 2), "/": ("/", 2)}


@dataclass
class _Worked:
    """The terms so far, and the keys that fix all of them."""

    typer: Typer
    place: Place
    terms: list[plan.Term] = field(default_factory=list)
    failed: bool = False


def formula(typer: Typer, block: ast.Block, place: Place) -> plan.FormulaElement | None:
    base = block.base.base if isinstance(block.base, ast.Index) else block.base
    name = text_of(base) if base else ""
    if base is None or name not in typer.metrics:
        return typer.refuse(wrong.NotAMetric((base or block.keyword).span, "metric", name, tuple(typer.metrics)))
    metric = typer.metrics[name]
    fixed = _fixed(typer, block, name)
    if fixed is None:
        return None
    if not _is_arithmetic(metric.expr):
        return typer.refuse(wrong.PlainFormula(base.span, name))
    for dim, key in fixed:
        place = place.at(dim, key)
    typed = typed_at(typer, base, place)
    if typed is None:
        return None
    typed, left = without_single_keys(typed, ())
    if left:
        keys = examples(typer, typed.term, left)
        return typer.refuse(wrong.DimensionsLeft((block.base or block.keyword).span, left, keys))
    worked = _Worked(typer, place)
    text = _text(worked, metric.expr, 0)
    if worked.failed:
        return None
    return plan.FormulaElement(
        name=(metric.label.plain if metric.label else None) or name,
        for_label=", ".join(_key_words(typer, dim, key) for dim, key in fixed),
        text=text,
        terms=tuple(worked.terms),
        result=query(typer, typed.term, typed.unit, name),
    )


def _fixed(typer: Typer, block: ast.Block, name: str) -> Fixed | None:
    """Return the keys behind `for`."""
    if not isinstance(block.base, ast.Index):
        return ()
    typed = typer.metric(name)
    at_keys = typed and index(typer, typed.term, block.base)
    return at_keys[1] if at_keys else None


def _key_words(typer: Typer, dim: Dimension, key: str | float) -> str:
    label = key_label(typer, dim, key)
    return label if isinstance(key, str) else f"{dim}: {label}"


def _is_arithmetic(expr: ast.Expr) -> bool:
    return (isinstance(expr, ast.Binary) and expr.operator in _SIGNS) or isinstance(expr, ast.Unary)


def _text(worked: _Worked, expr: ast.Expr, above: int) -> str:
    """Return the expression with `{0}`, `{1}` for its terms, in parentheses where it binds less tightly than
    `above`."""
    match expr:
        case ast.Binary() if expr.operator in _SIGNS:
            sign, level = _SIGNS[expr.operator]
            left = _text(worked, expr.left, level)
            right = _text(worked, expr.right, level + 1 if expr.operator in "-/" else level)
            text = f"{left} {sign} {right}"
            return f"({text})" if level < above else text
        case ast.Unary(operator="-"):
            return f"−{_text(worked, expr.operand, 3)}"
        case ast.Quantity():
            return text_of(expr)
        case _:
            return _term(worked, expr)


def _term(worked: _Worked, expr: ast.Expr) -> str:
    typed = typed_at(worked.typer, expr, worked.place)
    if typed is None:
        worked.failed = True
        return ""
    # A part may have no dimension that the whole formula lacks: each dimension left has one key.
    typed, _ = without_single_keys(typed, ())
    found = query(worked.typer, typed.term, typed.unit, text_of(expr))
    worked.terms.append(plan.Term(text=label_of(worked.typer, expr), query=found))
    return f"{{{len(worked.terms) - 1}}}"

"""The result of typing an expression, and the text of an expression for messages."""

from __future__ import annotations

from dataclasses import dataclass

from benchbrief.compiler.frontend.declared_names import dotted
from benchbrief.compiler.metrics.typing.terms import Term
from benchbrief.compiler.planning.plan import Dimension
from benchbrief.compiler.units import DIMENSIONLESS, Unit, base_unit
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast

Demanded = frozenset[Dimension]
"""Dimensions that are kept because a surrounding expression asks for them."""


@dataclass(frozen=True)
class Typed:
    """A term, and the unit to show it in when the text gives one (a metric's `in unit`)."""

    term: Term
    display: Unit | None = None

    @property
    def unit(self) -> Unit:
        """The unit of a shown number: the declared one, or the base unit."""
        if self.display is not None:
            return self.display
        dimension = self.term.unit or DIMENSIONLESS
        return Unit(dimension, 1.0, base_unit(dimension))


def unit_of(typed: Typed) -> Unit | None:
    """Return the unit for messages; None for a condition."""
    return typed.unit if typed.term.unit is not None else None


def mention(expr: ast.Expr, measure: str) -> Span:
    """Return the place of a measure's name in the expression, or the whole expression when it is inside a metric."""
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

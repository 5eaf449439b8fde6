"""Names for expressions: a metric's label, a measure's name, or words for arithmetic.

A plan has the parts of a name and no sentence. `measure_labels.py` words them in the language of the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import get_args

from benchbrief.compiler.briefs import report_errors as wrong
from benchbrief.compiler.briefs.element_queries import dimension, key_label
from benchbrief.compiler.frontend.declarations import dotted, text_of
from benchbrief.compiler.measure_catalogue import KINDS, NAMED, ORDERED
from benchbrief.compiler.metrics.expressions import Typer
from benchbrief.compiler.metrics.indexing import scope_key, word_of
from benchbrief.compiler.problems import Findings
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.syntax import ast
from benchbrief.model.plan import Dimension, Label, LatencyKind, Wording
from benchbrief.model.points import DimKey
from benchbrief.model.units import Dimension as UnitDimension

_MOST_PARTS = 4
"""The most measures and numbers in a name. More parts are easier to read as a formula."""
_ARITHMETIC = {"+": "plus", "-": "minus", "*": "times", "/": "ratio"}
_LOGIC = {"and", "or"}


def label_of(typer: Typer, expr: ast.Expr, *, exact: bool = False, shown: bool = True) -> Label:
    """Return the name of an expression; its text, with a warning, when it has too many parts.

    With `exact`, the name has the points of ramps that fix it, which only matters where others have them too. Without
    `shown`, the spec gives another name, so there is no warning.
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
    """Return None for anything but a number, such as a quoted text."""
    match expr:
        case ast.Name() if expr.text in typer.metrics:
            label = typer.metrics[expr.text].label
            return (label.plain if label else None) or expr.text
        case ast.Name() | ast.Attr(base=ast.Name() | ast.Attr()) | ast.Quantity():
            return text_of(expr)
        case ast.Index():
            found = _located(typer, expr)
            return None if found is None else (found if exact else replace(found, points=())).label
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
    """Return `ratio` for a quotient of two quantities of one unit, else `divided`."""
    if expr.operator != "/":
        return _ARITHMETIC[expr.operator]
    alike = _unit(typer, expr.left) == _unit(typer, expr.right)
    return "ratio" if alike and not isinstance(expr.right, ast.Quantity) else "divided"


def _unit(typer: Typer, expr: ast.Expr) -> UnitDimension | None:
    """Return the unit of an expression whose mistakes are reported already."""
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
    over = tuple(dim for name in call.over if (dim := dimension(name.text)))
    found = Wording(form="reduced", name=function, of=tuple(label for label in labels if label is not None), over=over)
    if call.when is None:
        return found
    when = _label(typer, call.when, exact=True)
    return Wording(form="where", of=(found, when)) if when is not None else None


# --- the same quantity at two places ---


@dataclass(frozen=True)
class _Located:
    """A quantity with the labels of its fixed keys and its points of ramps."""

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
        named = _labelled_key(typer, argument)
        dim = dimension(argument.key.text) if argument.key else None
        if named and named[0] == "operation":
            operations.append(str(named[1]))
        elif named is None and argument.key is None and word_of(argument.value) in get_args(LatencyKind):
            operations.append(str(word_of(argument.value)))
        elif named:
            keys.append(key_label(typer, *named))
        elif dim in ORDERED and isinstance(argument.value, ast.Quantity):
            points.append((dim, argument.value.value))
    if operations and isinstance(found.base, str):
        listed = ", ".join(operations)
        found = replace(found, base=found.base + (f"[{listed}]" if dotted(expr.base) in KINDS else f", {listed}"))
    return replace(found, keys=(*found.keys, *keys), points=(*found.points, *points))


def _labelled_key(typer: Typer, argument: ast.Argument) -> tuple[Dimension, DimKey] | None:
    word = word_of(argument.value)
    if word is None:
        return None
    dims = NAMED if argument.key is None else tuple(dim for dim in NAMED if dim == argument.key.text)
    for dim in dims:
        key = scope_key(typer.scope, dim, word)
        if key is not None:
            return dim, key
    return None


def _compared(typer: Typer, expr: ast.Binary) -> Wording | None:
    """Recognise `a / b`, `a / b - 1`, `1 - a / b` and `(a - b) / b`, where `a` and `b` are one quantity at two
    places."""
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

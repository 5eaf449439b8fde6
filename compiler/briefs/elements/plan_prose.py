"""Texts with holes: names become their labels, expressions become computed numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeGuard

from benchbrief.compiler.briefs import report_errors as wrong
from benchbrief.compiler.briefs.elements.element_queries import (
    Place,
    examples,
    key_label,
    query,
    typed_at,
    without_single_keys,
)
from benchbrief.compiler.briefs.elements.published_values import quote_of
from benchbrief.compiler.briefs.elements.written_units import is_scaled, unit_behind
from benchbrief.compiler.frontend.declared_names import dotted, text_of
from benchbrief.compiler.frontend.name_errors import UnknownName
from benchbrief.compiler.measure_catalogue import KINDS, NAMED
from benchbrief.compiler.metrics.typing.expressions import Typer
from benchbrief.compiler.metrics.typing.indexing import scope_key, word_of
from benchbrief.compiler.metrics.typing.lookups import described_names
from benchbrief.compiler.metrics.typing.typed_expression import Typed
from benchbrief.compiler.metrics.unit_errors import unit_words
from benchbrief.compiler.planning import plan
from benchbrief.compiler.planning.plan import Dimension
from benchbrief.compiler.problems import CompileProblem
from benchbrief.compiler.units import DIMENSIONLESS, Unit
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast

_FORMAT = re.compile(r"[+\- ]?0?\d{0,2}[,_]?(\.\d{1,2})?[eEfFgGn%]?")
_EXAMPLES = "formats are such as `.1f`, `+.0%`, `,.0f`, `.3g`, and with the unit `.1fu`"
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~&])")
_FRACTION = Unit(DIMENSIONLESS, 1.0, "")
_NAMEABLE = tuple(dim for dim in NAMED if dim != "operation")


def escaped(label: str) -> str:
    """Escape a label for Markdown."""
    return _SPECIAL.sub(r"\\\1", label)


def prose(typer: Typer, string: ast.String, place: Place) -> plan.Prose | None:
    """Return a text as Markdown with computed numbers; None after a mistake."""
    parts: list[str | plan.Value] = []
    failed = False
    pieces = list(string.parts)
    for at, part in enumerate(pieces):
        if isinstance(part, str):
            parts.append(part)
            continue
        follows = pieces[at + 1] if at + 1 < len(pieces) else ""
        filled = _filled(typer, part, place, follows if isinstance(follows, str) else "")
        failed = failed or filled is None
        if isinstance(filled, _WithUnit):
            parts.append(filled.value)
            pieces[at + 1] = filled.rest
        else:
            parts += filled or []
    return None if failed else plan.Prose(parts=_joined(parts))


def title(typer: Typer, string: ast.String, place: Place, what: str) -> str | None:
    """Return a plain text, in which holes can only be names."""
    parts: list[str] = []
    failed = False
    for part in string.parts:
        if isinstance(part, str):
            words: str | None = part
        elif subject := _subject(typer, part.expr):
            words = _words(typer, part, subject, place)
        else:
            typer.report(_misspelt(typer, part.expr) or wrong.NumberInTitle(part.span, what))
            words = None
        failed = failed or words is None
        parts.append(words or "")
    return None if failed else "".join(parts)


def _misspelt(typer: Typer, expr: ast.Expr) -> CompileProblem | None:
    """Report a misspelt name in a hole: `{worlkoad.label}`."""
    name = expr.base if isinstance(expr, ast.Attr) else expr
    if not isinstance(name, ast.Name) or name.text in typer.metrics or name.text in KINDS:
        return None
    names = described_names(typer)
    return UnknownName(name.span, "name", name.text, names) if did_you_mean(name.text, names) else None


def number_terms(typer: Typer, string: ast.String, place: Place) -> list[Typed]:
    """Return the terms of the numbers in a text, without wrong ones."""
    exprs = (part.expr for part in string.parts if isinstance(part, ast.Hole))
    inner = (expr.arguments[0].value if _is_range(expr) and expr.arguments else expr for expr in exprs)
    typed = (typed_at(typer, expr, place) for expr in inner if not _subject(typer, expr))
    return [term for term in typed if term is not None]


def _joined(parts: Iterable[str | plan.Value]) -> tuple[str | plan.Value, ...]:
    joined: list[str | plan.Value] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part != "":
            joined.append(part)
    return tuple(joined)


@dataclass(frozen=True)
class _WithUnit:
    """A number that is printed with its unit, so that the unit behind its hole goes."""

    value: plan.Value
    rest: str


def _filled(typer: Typer, hole: ast.Hole, place: Place, follows: str) -> list[str | plan.Value] | _WithUnit | None:
    subject = _subject(typer, hole.expr)
    if subject is None:
        return _number(typer, hole, place, follows)
    words = _words(typer, hole, subject, place)
    if words is None:
        return None
    is_prose = isinstance(hole.expr, ast.Attr) and hole.expr.field.text == "description"
    return [words if is_prose else escaped(words)]


# --- holes that are names ---


_Subject = tuple[Dimension, str | None, str]


def _subject(typer: Typer, expr: ast.Expr) -> _Subject | None:
    """Return the dimension, key (None: the fixed one) and field of a name; None for numbers."""
    word = (word_of(expr) if isinstance(expr, ast.Call) else None) or dotted(expr)
    if isinstance(expr, ast.Call) and scope_key(typer.scope, "workload", word) is None:  # other than `load(a)`
        return None
    if not isinstance(expr, ast.Name | ast.Attr | ast.Call) or word in typer.metrics or word in KINDS:
        return None
    stem, _, field = word.rpartition(".")
    for text, asked in ((word, "label"), (stem, field)):
        for dim in _NAMEABLE:
            if text == dim:
                return dim, None, asked
            key = scope_key(typer.scope, dim, text)
            if key is not None:
                return dim, key, asked
    return None


def _words(typer: Typer, hole: ast.Hole, subject: _Subject, place: Place) -> str | None:
    dim, named, field = subject
    key = named or place.key(dim)
    if key is None:
        return typer.refuse(wrong.NotFixedHere(hole.expr.span, dim))
    if hole.format:
        return typer.refuse(wrong.BadFormat(hole.span, hole.format, "this is a text", "remove the format"))
    fields = _fields(typer, dim, str(key))
    if field not in fields:
        span = hole.expr.field.span if isinstance(hole.expr, ast.Attr) else hole.expr.span
        what = f"{dim} `{key}`" if named else f"a {dim}"
        return typer.refuse(wrong.UnknownField(span, what, field, tuple(fields)))
    return fields[field]


def _fields(typer: Typer, dim: Dimension, key: str) -> dict[str, str]:
    label = key_label(typer, dim, key)
    fields = {"label": label, "title": label, "name": key}
    for workload in typer.scope.workloads:
        if dim == "workload" and workload.key == key:
            fields["description"] = workload.description
    for hardware in typer.scope.hardware:
        if dim == "hardware" and hardware.key == key:
            facts = {name: quantity.text for name, quantity in hardware.facts.items()}
            return {**facts, **hardware.texts, **fields}
    return fields


# --- holes that are numbers ---


def _is_range(expr: ast.Expr) -> TypeGuard[ast.Call]:
    return isinstance(expr, ast.Call) and expr.function.text == "range"


def _number(typer: Typer, hole: ast.Hole, place: Place, follows: str) -> list[str | plan.Value] | _WithUnit | None:
    """Use the unit behind the hole. Otherwise, with a format, use the metric's own, which is printed for `u` or where a
    reader could not know it."""
    expr = hole.expr
    exprs: list[ast.Expr] = [expr]
    if _is_range(expr):
        exprs = [replace(expr, function=replace(expr.function, text=end)) for end in ("min", "max")]
    ends = [_one_number(typer, end, place) for end in exprs]
    typed = [end for end in ends if end is not None]
    if len(typed) < len(ends):
        return None
    asked, format_ = hole.format.endswith("u"), hole.format.removesuffix("u")
    unit = printed_unit(typer, hole.span, format_, typed[0])
    if unit is None:
        return None
    spelled = unit_behind(follows, typed[0], format_, hole.span)
    if isinstance(spelled, wrong.UnitBehind):
        if (format_ and not asked) or spelled.surely:
            return typer.refuse(spelled)
        spelled = None  # the number prints its own unit, and another word follows: `a 64 GiB node`
    if spelled:
        unit = spelled.unit
    quotes = [quote_of(typer, end, place) for end in exprs]
    text = text_of(expr)
    queries = [query(typer, end.term, unit, text, quote) for end, quote in zip(typed, quotes, strict=True)]
    value = plan.Value(query=queries[0], format=format_, high=queries[1] if len(queries) > 1 else None)
    if spelled:
        return [value] if format_ else _WithUnit(value, spelled.rest)
    with_unit = format_ and (asked or is_scaled(typed[0]))
    return [value, f"\N{NO-BREAK SPACE}{unit.text}"] if with_unit and unit.text else [value]


def printed_unit(typer: Typer, span: Span, format_: str, typed: Typed) -> Unit | None:
    """Return the unit of a number that a Python format prints; None when the format is wrong."""
    if not _FORMAT.fullmatch(format_):
        return typer.refuse(wrong.BadFormat(span, format_, "", _EXAMPLES))
    unit = typed.unit
    if not format_.endswith("%"):
        return unit
    if unit.dimension != DIMENSIONLESS:
        why = f"it is {unit_words(unit.dimension)}, not a share"
        return typer.refuse(wrong.BadFormat(span, format_, why, "remove the `%`, or divide by a whole"))
    return _FRACTION  # `%` multiplies by 100 itself


def _one_number(typer: Typer, expr: ast.Expr, place: Place) -> Typed | None:
    typed = typed_at(typer, expr, place)
    if typed is None:
        return None
    typed, left = without_single_keys(typed, ())
    if left:
        return typer.refuse(wrong.DimensionsLeft(expr.span, left, examples(typer, typed.term, left)))
    return typed

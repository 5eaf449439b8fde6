"""Values of the wrong form, and their most likely meaning."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from benchbrief.compiler.frontend import structure_errors
from benchbrief.compiler.problems import CompileProblem
from benchbrief.compiler.units import UnknownUnitError, parse_unit
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.dsl.syntax import ast

_NUMBER = re.compile(r"[0-9][0-9_.]*(?:[kMGT](?![A-Za-z]))?\s*(.*)")
_NUMBERS = re.compile(r"\s*[0-9]+(?:\s*,\s*[0-9]+|\s+[0-9]+)+\s*")
_PREFIXES = ("var", "param", "params", "vars")


def wrong_value(
    expr: ast.Expr, key: str, wanted: str, words: Iterable[str] = (), *, numbers: bool = False, texts: bool = False
) -> CompileProblem:
    """Report a value that is neither of the `wanted` form nor a misspelt one of `words`. `numbers` says that a number
    is allowed too, `texts` that a text stands for a word."""
    known = tuple(words)
    name = expr.function if isinstance(expr, ast.Call) else expr
    if isinstance(name, ast.Name) and did_you_mean(name.text, known):
        return structure_errors.UnknownWord(name.span, key, name.text, known)
    if isinstance(expr, ast.Binary) and expr.span.text.replace("-", "_") in known:
        return structure_errors.UnknownWord(expr.span, key, expr.span.text, known)  # `white-paper`
    meant = f'"{expr.text}"' if texts and isinstance(expr, ast.Name) else _meant(expr, known, numbers)
    return structure_errors.WrongType(expr.span, key, wanted, described(expr), meant)


def _meant(expr: ast.Expr, known: tuple[str, ...], numbers: bool) -> str | None:
    """Strip the surplus from `"5 min"`, `"nvme"`, `"{records}"` and `var.records`."""
    text = ""
    match expr:
        case ast.String(plain=plain) if plain is not None:
            text = plain.strip()
        case ast.String(parts=[ast.Hole(expr=ast.Name(text=text), format="")]):
            pass
        case ast.Attr(base=ast.Name(text=prefix), field=ast.Name(text=text)) if prefix in _PREFIXES:
            pass
        case _:
            return None
    if text in known:
        return text
    if numbers and _NUMBERS.fullmatch(text):
        return "[" + ", ".join(re.findall(r"[0-9]+", text)) + "]"
    number = _NUMBER.fullmatch(text) if numbers else None
    if number is None:
        return None
    try:
        parse_unit(number[1])
    except UnknownUnitError:
        return None
    return text


def product(expr: ast.Expr) -> Literal["phases", "count", ""]:
    """Return what `6 x 10 min`, or `2 x 16 cores`, is written as; "" for anything else."""
    match expr:
        case ast.Binary(operator="x", right=ast.Quantity(unit=unit)):
            return "phases" if unit in ("s", "ms", "min", "h", "d") else "count"
        case ast.Binary(operator="x"):
            return "count"
    return ""


def described(expr: ast.Expr) -> str:
    """Return what an expression is, for messages."""
    match expr:
        case ast.Name():
            return f"the word `{expr.text}`"
        case ast.Quantity():
            return f"the number `{expr.span.text}`"
        case ast.String():
            return "a quoted text"
        case ast.List():
            return "a list"
        case ast.Call():
            return f"a call of `{expr.function.text}`"
        case ast.Attr() | ast.Index() | ast.Binary() | ast.Unary():
            return f"the expression `{' '.join(expr.span.text.split())}`"
        case ast.Every() | ast.By() | ast.Option():
            return f"`{' '.join(expr.span.text.split())}`"

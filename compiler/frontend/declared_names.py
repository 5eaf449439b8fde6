"""Walks the syntax tree for names that refer to declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast

_NOT_USES: Mapping[type, frozenset[str]] = {
    ast.Param: frozenset({"name"}),
    ast.Metric: frozenset({"name", "unit"}),
    ast.Block: frozenset({"keyword", "name", "subject"}),
    ast.Attribute: frozenset({"key"}),
    ast.Argument: frozenset({"key"}),
    ast.Attr: frozenset({"field"}),
    ast.Call: frozenset({"function", "over"}),
    ast.By: frozenset({"dimensions"}),
    ast.Option: frozenset({"word"}),
}
"""Fields whose names call or select something and refer to no declaration."""


def names_in(node: object) -> Iterator[ast.Name]:
    """Yield every name below a node or a collection of nodes."""
    stack: list[Any] = [node]
    while stack:
        item = stack.pop()
        kind = type(item)
        if kind is ast.Name:
            yield item
        elif kind is tuple or kind is list:
            stack += item
        elif kind is dict:
            stack += item.values()
        else:
            parts = _parts(kind)  # type: ignore[arg-type]  # mypy takes the hash of its objects for that of the class
            stack += [getattr(item, name) for name in parts]
            if not parts and kind not in _PLAIN and isinstance(item, Mapping):
                stack += item.values()


@cache
def _parts(kind: type) -> tuple[str, ...]:
    """Return the fields of a kind of node that may hold references. Looking them up is slower than walking the tree."""
    skipped = _NOT_USES.get(kind, frozenset())
    is_node = is_dataclass(kind) and kind is not Span
    names = [each.name for each in fields(kind) if each.name not in skipped] if is_node else []
    return tuple(name for name in names if not name.endswith("span"))


_PLAIN = frozenset({str, int, float, bool, type(None)})


def text_of(expr: ast.Expr) -> str:
    """Return the expression as written, on one line."""
    return " ".join(re.sub(r"#[^\n]*", "", expr.span.text).split())


def dotted(expr: ast.Expr) -> str:
    """Return `latency.p99` as one word; other expressions as written."""
    return f"{dotted(expr.base)}.{expr.field.text}" if isinstance(expr, ast.Attr) else text_of(expr)

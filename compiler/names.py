"""Walking the syntax tree for the names that stand for something declared elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from benchbrief.dsl import ast
from benchbrief.dsl.source import Span

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
"""Fields with names that call something, or say which part of it: not uses of another declaration."""


def names_in(node: object) -> Iterator[ast.Name]:
    """Every name that is used below a node, or in a collection of nodes."""
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
            parts = _PARTS.get(kind)
            if parts is None:
                parts = _parts(kind)
            stack += [getattr(item, name) for name in parts]
            if not parts and kind not in _PLAIN and isinstance(item, Mapping):
                stack += item.values()


def _parts(kind: type) -> tuple[str, ...]:
    """The fields of a kind of node that may hold uses."""
    if kind not in _PARTS:
        skipped = _NOT_USES.get(kind, frozenset())
        is_node = is_dataclass(kind) and kind is not Span
        names = [each.name for each in fields(kind) if each.name not in skipped] if is_node else []
        _PARTS[kind] = tuple(name for name in names if not name.endswith("span"))
    return _PARTS[kind]


_PLAIN = frozenset({str, int, float, bool, type(None)})
_PARTS: dict[type, tuple[str, ...]] = {}
"""As asked for so far: looking fields up takes longer than walking the tree."""

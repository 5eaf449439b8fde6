"""Walking the syntax tree for the names that stand for something declared elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

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
    stack = [node]
    while stack:
        item = stack.pop()
        if isinstance(item, ast.Name):
            yield item
        elif isinstance(item, Mapping):
            stack.extend(item.values())
        elif isinstance(item, tuple | list):
            stack.extend(item)
        elif is_dataclass(item) and not isinstance(item, Span):
            skipped = _NOT_USES.get(type(item), frozenset())
            stack.extend(getattr(item, each.name) for each in fields(item) if each.name not in skipped)

"""Walking the syntax tree for the names that are used in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

from benchbrief.dsl import ast
from benchbrief.dsl.source import Span


def names_in(node: object) -> Iterator[ast.Name]:
    """Every name below a node, or in a collection of nodes."""
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
            # What a parameter is called is not a use of it.
            skipped = "name" if isinstance(item, ast.Param) else ""
            stack.extend(getattr(item, each.name) for each in fields(item) if each.name != skipped)

"""Finds the texts on the fields of a module's classes: the string after a field, or the comment beside it."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Mapping
from types import ModuleType

_COMMENT = re.compile(r" {2}# (?!type: |noqa)(.+)$")


def field_docs(module: ModuleType) -> Mapping[tuple[str, str], str]:
    """Return the text on each field, by the class and the field."""
    source = inspect.getsource(module)
    lines = source.splitlines()
    found = {}
    for kind in (node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)):
        for place, field in enumerate(kind.body):
            if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
                continue
            behind = kind.body[place + 1] if place + 1 < len(kind.body) else None
            comment = _COMMENT.search(lines[(field.end_lineno or 1) - 1])
            match behind:
                case ast.Expr(value=ast.Constant(value=str(said))):
                    found[kind.name, field.target.id] = " ".join(said.split())
                case _ if comment:
                    found[kind.name, field.target.id] = comment[1]
    return found

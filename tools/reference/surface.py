"""Makes the page on `benchbrief.extend`: the contents of each of its modules ("doors") by kind, with a line on each
name."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.resources import files
from itertools import pairwise
from types import ModuleType

from tools.reference.markdown import code, joined, table, text

DOORS = ("spec", "common")
"""The modules that come first, because all extensions need them."""


_END = r"\.\s(?=[A-Z`])"
"""Matches the end of a sentence."""


def page() -> str:
    return joined(
        ["# What extensions may import", text("surface"), *(part for each in doors() for part in _door(each))]
    )


def doors() -> tuple[str, ...]:
    names = (each.name for each in files("benchbrief.extend").iterdir())
    found = sorted(each.removesuffix(".py") for each in names if each[0] != "_")
    return (*DOORS, *(each for each in found if each not in DOORS))


def _door(name: str) -> Iterator[str]:
    module = import_module(f"benchbrief.extend.{name}")
    yield f"## {name}"
    yield inspect.cleandoc(module.__doc__ or "")
    rows = sorted((kind_of(getattr(module, each)), each, line_on(module, each)) for each in module.__all__)
    yield table(("name", "what", ""), [(code(each), line, kind) for kind, each, line in rows])


def kind_of(made: object) -> str:
    """Return the kind of thing that a name is, in one word."""
    if not isinstance(made, type) or made.__module__ == "builtins":
        return "function" if inspect.isroutine(made) else "value"
    if getattr(made, "_is_protocol", False):
        return "protocol"
    return "error" if issubclass(made, Exception) else "class"


def line_on(door: ModuleType, name: str) -> str:
    """Return the first sentence of a name's docstring or, for a value, of the string after it. Raises KeyError."""
    made = getattr(door, name)
    said = _texts_of(door.__name__).get(name) or _behind(door, name)
    if kind_of(made) != "value" and not (made.__doc__ or "").startswith(f"{made.__name__}("):  # as dataclasses write
        said = made.__doc__ or ""
    if not said:
        raise KeyError(f"{door.__name__}.{name} has no docstring")
    first = " ".join(inspect.cleandoc(said).partition("\n\n")[0].split())
    return f"{re.split(_END, first)[0].rstrip('.:')}."


def _behind(door: ModuleType, name: str) -> str:
    for node in ast.walk(ast.parse(inspect.getsource(door))):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _texts_of(node.module).get(alias.name, "")
    return ""


@cache
def _texts_of(module: str) -> dict[str, str]:
    """Return the string behind each value of a module."""
    body = ast.parse(inspect.getsource(import_module(module))).body
    found = {}
    for node, behind in pairwise(body):
        match node, behind:
            case (
                ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(said))),
            ):
                found[name] = said
    return found

"""The named arguments of a call in a value, as in `knee(from: 1, to: 64, factor: 2)`."""

from __future__ import annotations

from collections.abc import Collection

from benchbrief.compiler.blocks.values.values import Reader
from benchbrief.compiler.frontend import structure_errors
from benchbrief.dsl.syntax import ast


def named_arguments(call: ast.Call, known: Collection[str], reader: Reader) -> dict[str, ast.Argument] | None:
    """Return the arguments that have names, by name. Reports one that is unknown or given twice, and returns None."""
    named: dict[str, ast.Argument] = {}
    for argument in call.arguments:
        if argument.key is None:
            continue
        key, name = argument.key, argument.key.text
        if name not in known:
            return reader.refuse(structure_errors.UnknownArgument(key.span, call.function.text, name, tuple(known)))
        if name in named:
            return reader.refuse(structure_errors.DuplicateAttribute(key.span, named[name].span, name))
        named[name] = argument
    return named

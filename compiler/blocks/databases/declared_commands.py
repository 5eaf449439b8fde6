"""The commands that a database declares, and the reset of its data before each cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from benchbrief.compiler.blocks.databases import database_errors
from benchbrief.compiler.blocks.values.block_values import Constant, Values, origin
from benchbrief.compiler.blocks.values.values import Reader, listed
from benchbrief.compiler.blocks.values.wrong_forms import wrong_value
from benchbrief.compiler.extensions.engine_spec import EVERYWHERE, EngineSpec
from benchbrief.compiler.frontend import structure_errors
from benchbrief.compiler.planning import plan
from benchbrief.compiler.schemas.extension_schemas import DATABASE
from benchbrief.compiler.shapes.value_shapes import Number, Shape, Text, Word
from benchbrief.dsl.syntax import ast

_WAYS: Mapping[str, plan.Reset] = {
    "drop_and_load": "drop_and_load",
    "as_needed": "as_needed",
    "after_writes": "after_writes",
    "undo": "undo",
    "snapshot": "snapshot",
    "links": "links",
    "btrfs": "btrfs",
    "zfs": "zfs",
    "lvm_thin": "lvm_thin",
    "reuse": "reuse",
}
_ARGUMENTS: Mapping[str, Shape] = {"on": Word(("each", "first")), "timeout": Number("s", "10 min", above=True)}
_TIMEOUT_S = 600.0
_USAGE = '`command("./restore.sh", timeout: 10 min)`'


@dataclass(frozen=True)
class Reset:
    """How a data set is reset. `commands` are for the kind `command`."""

    how: plan.Reset
    commands: tuple[plan.Hook, ...] = ()


def read_reset(values: Values, engine: EngineSpec, reader: Reader) -> Reset:
    """Return the reset. `as_needed` is `after_writes` where the engine does not update records in place."""
    found = _read(values, engine, reader)
    if found.how == "as_needed" and not engine.updates_in_place:
        return Reset("after_writes")
    return found


def _read(values: Values, engine: EngineSpec, reader: Reader) -> Reset:
    exprs, default = values.series("reset"), engine.default_reset
    known = [word for word, how in _WAYS.items() if how in (*EVERYWHERE, *engine.resets)]
    if len(exprs) == 1 and isinstance(word := reader.deref(exprs[0]), ast.Name):
        how = _WAYS.get(word.text)
        if how is None:
            reader.report(structure_errors.UnknownWord(word.span, "reset", word.text, (*known, "command")))
        elif how not in (*EVERYWHERE, *engine.resets):
            reader.report(database_errors.ResetNotHere(word.span, word.text, engine.label, tuple(known)))
        else:
            return Reset(how)
        return Reset(default)
    commands = tuple(_commands(exprs, "reset", (*known, "command"), reader))
    return Reset("command", commands) if commands else Reset(default)


def read_hooks(values: Values, when: Literal["prepare", "teardown"], reader: Reader) -> tuple[plan.Hook, ...]:
    return tuple(_commands(values.series(when), when, ("command",), reader))


def _commands(
    exprs: Sequence[ast.Expr], when: Literal["prepare", "reset", "teardown"], words: Sequence[str], reader: Reader
) -> Iterator[plan.Hook]:
    for expr in listed(reader.deref(each) for each in exprs):
        match reader.deref(expr):
            case ast.Call(function=ast.Name(text="command"), arguments=[ast.Argument(key=None, value=text), *rest]):
                line = reader.value("command", text, Text())
                named = _named(rest, reader)
                timeout = named.get("timeout")
                if isinstance(line, str):
                    yield plan.Hook(
                        when=when,
                        line=line,
                        on="first" if named.get("on") == "first" else "each",
                        timeout_s=timeout.value if isinstance(timeout, Constant) else _TIMEOUT_S,
                        origin=origin(expr.span),
                    )
            case ast.Call(function=ast.Name(text="command")):
                reader.report(structure_errors.BadArgument(expr.span, "command", "needs a command", _USAGE))
            case other:
                reader.report(wrong_value(other, when, DATABASE.keys[when].shape.wanted, words))


def _named(arguments: Sequence[ast.Argument], reader: Reader) -> dict[str, object]:
    found: dict[str, object] = {}
    for argument in arguments:
        name = argument.key.text if argument.key else None
        if argument.key is None or name is None:
            why = "takes one command; all other arguments have names"
            reader.report(structure_errors.BadArgument(argument.span, "command", why, _USAGE))
        elif name not in _ARGUMENTS:
            known = tuple(_ARGUMENTS)
            reader.report(structure_errors.UnknownArgument(argument.key.span, "command", name, known))
        else:
            found[name] = reader.value(name, argument.value, _ARGUMENTS[name])
    return found

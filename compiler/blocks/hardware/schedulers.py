"""Schedulers: the hosts that one is asked for, as in `hosts = slurm("nvme", 4)`, and the blocks `scheduler`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from benchbrief.compiler.blocks.hardware.host_patterns import FILE_OF_HOSTS, MAX_HOSTS
from benchbrief.compiler.blocks.values.block_values import origin, setting
from benchbrief.compiler.blocks.values.named_arguments import named_arguments
from benchbrief.compiler.blocks.values.values import Reader
from benchbrief.compiler.extensions import SchedulerSpec
from benchbrief.compiler.extensions.extension_errors import UnusableExtension
from benchbrief.compiler.extensions.registry import SCHEDULER_SPECS, Refused
from benchbrief.compiler.frontend import structure_errors
from benchbrief.compiler.frontend.declarations import Entry
from benchbrief.compiler.frontend.value_errors import BadHosts
from benchbrief.compiler.planning import plan
from benchbrief.compiler.schemas.block_schema import SCHEDULER, scheduler_schema
from benchbrief.compiler.shapes.value_shapes import Number, Text
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast

_COUNT = Number("", "4", plain=True, integer=True, minimum=1.0, maximum=float(MAX_HOSTS))
_TEXT = Text()
_FILES = ("file", "read", "open", "include", "inventory", "load")
"""What people write for a list of hosts in a file."""


def read_asked(call: ast.Call, reader: Reader) -> tuple[plan.Asked, int] | None:
    """Return what a scheduler is asked for, and for how many hosts of it. Reports a mistake, and returns None."""
    name = call.function.text
    spec = SCHEDULER_SPECS.find(name)
    if isinstance(spec, Refused):
        return reader.refuse(UnusableExtension.of(call.function.span, spec))
    if spec is None or not spec.usage:
        if name in _FILES:
            why = "hosts are written in the spec: they can't be read from a file"
            return reader.refuse(BadHosts(call.span, why, FILE_OF_HOSTS))
        known = tuple(each for each, own in SCHEDULER_SPECS.own.items() if own.usage)
        return reader.refuse(structure_errors.UnknownWord(call.function.span, "hosts", name, ("local", *known)))
    named = named_arguments(call, spec.arguments, reader)
    if named is None:
        return None
    said = {key: reader.value(key, argument.value, _TEXT) for key, argument in named.items()}
    mistakes = len(reader.findings)
    text, count = "", 0
    for argument in (each for each in call.arguments if each.key is None):
        value = reader.deref(argument.value)
        if isinstance(value, ast.String | ast.Name) and not text:
            found = reader.value(name, argument.value, _TEXT)
            text = found if isinstance(found, str) else ""
        elif isinstance(value, ast.Quantity) and not count:
            number = reader.quantity(name, argument.value, _COUNT)
            count = int(number.value) if number else 1
        else:
            why = "takes what the hosts must have, a text, and their number"
            reader.report(structure_errors.BadArgument(argument.span, name, why, spec.usage))
    for why in _mistakes(spec, text, said) if len(reader.findings) == mistakes else ():
        reader.report(structure_errors.BadArgument(call.span, name, why, spec.usage))
    if len(reader.findings) > mistakes or None in said.values():
        return None
    options = tuple((key, value) for key, value in said.items() if isinstance(value, str))
    return plan.Asked(scheduler=name, what=text, options=options), count or 1


def _mistakes(spec: SchedulerSpec, text: str, said: Mapping[str, object]) -> Iterator[str]:
    if not text and not said:
        yield f"needs {spec.asks_for}" + "".join(f", or `{key}:`" for key in spec.arguments)
    elif text and not re.fullmatch(spec.asks_form, text):
        yield f"needs {spec.asks_for}, and `{text}` is none"


def read_schedulers(entries: Mapping[str, Entry], reader: Reader) -> dict[str, plan.SchedulerBlock]:
    """Return the blocks by the names of their schedulers. Reports wrong ones, and leaves them out."""
    found = (_block(entry, reader) for entry in entries.values())
    return {block.name: block for block in found if block is not None}


def _block(entry: Entry, reader: Reader) -> plan.SchedulerBlock | None:
    spec = SCHEDULER_SPECS.find(entry.name)
    at = Span(entry.head.source, entry.head.end - len(entry.name), entry.head.end)
    if isinstance(spec, Refused):
        return reader.refuse(UnusableExtension.of(at, spec))
    if spec is None:
        if entry.name:
            known = SCHEDULER_SPECS.names
            reader.report(structure_errors.UnknownWord(at, "scheduler", entry.name, known))
        return None
    values = reader.block(entry, SCHEDULER if entry.name in SCHEDULER_SPECS.own else scheduler_schema(spec))
    for name, attribute in entry.attributes.items():
        key = SCHEDULER.keys.get(name)
        if name not in spec.attributes and key is not None:
            only = " or ".join(key.only)
            reader.report(structure_errors.NotForThis(attribute.key.span, name, only, entry.name))
    options = {name: found for name, value in values.found.items() if (found := setting(value)) is not None}
    package = SCHEDULER_SPECS.source(entry.name)
    return plan.SchedulerBlock(name=entry.name, options=options, package=package, origin=origin(entry.head))

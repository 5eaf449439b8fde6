"""The blocks `scheduler`: what the jobs of a scheduler ask for."""

from __future__ import annotations

from collections.abc import Mapping

from benchbrief.compiler.blocks.hardware.hardware import origin
from benchbrief.compiler.blocks.values.block_values import setting
from benchbrief.compiler.blocks.values.values import Reader
from benchbrief.compiler.extensions.extension_errors import UnusableExtension
from benchbrief.compiler.extensions.registry import SCHEDULER_SPECS, Refused
from benchbrief.compiler.frontend import structure_errors
from benchbrief.compiler.frontend.declarations import Entry
from benchbrief.compiler.planning import plan
from benchbrief.compiler.schemas.block_schema import SCHEDULER, scheduler_schema
from benchbrief.dsl.source import Span


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

"""The events of an experiment: `at 5 min "Primary stepped down" { command("...", on: first) }`."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Protocol

from benchbrief.compiler.blocks import experiment_errors
from benchbrief.compiler.blocks.hardware import HardwareUnit
from benchbrief.compiler.blocks.values import Constant, Reader, origin
from benchbrief.compiler.blocks.workloads import Load
from benchbrief.compiler.extensions import ToolSpec
from benchbrief.compiler.frontend import structure_errors
from benchbrief.compiler.frontend.declarations import Entry
from benchbrief.compiler.schemas.block_schema import EVENT
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan
from benchbrief.model.plan import Event
from benchbrief.model.value_shapes import Number, Text

_TIME = Number("s", "5 min", minimum=5.0)
_TIMEOUT = Number("s", "30 s", above=True)
_TIMEOUT_S, _WINDOW_S, _STEADY_S, _SHARE = 30.0, 30.0, 5.0, 0.1
_APART_S = 1.0
_USAGE = '`command("...", on: first, timeout: 10 s)`'
_ARGUMENTS = ("on", "timeout")


@dataclass(frozen=True)
class _Place:
    """Where a command runs: the `word` as written, "" for a mistake, and its place in the text."""

    word: str
    expr: ast.Expr


class NamedHosts(Protocol):
    """What a spec names that has hosts. A client with a mistake is None."""

    @property
    def clients(self) -> Mapping[str, plan.Client | None]: ...
    @property
    def by_alias(self) -> Mapping[str, HardwareUnit]: ...
    @property
    def by_group(self) -> Mapping[str, Sequence[HardwareUnit]]: ...


Events = Mapping[str, tuple[Event, ...]]
"""The events of an experiment, by hardware key: each runs on hosts of the cell."""


def read_events(
    entry: Entry, world: NamedHosts, times: tuple[float, Sequence[HardwareUnit]], reader: Reader
) -> Callable[[Mapping[str, plan.Client], ToolSpec, Sequence[Load]], Events]:
    """Read the events of an experiment, and return what places them on the hosts of its cells. `world` has what the
    spec names; `times` are the measured seconds and the hardware."""
    clients = {name: client.hosts for name, client in world.clients.items() if client}
    groups = {name: named[0].hardware.hosts for name, named in world.by_group.items()}
    known = {**clients, **groups, **{name: unit.hardware.hosts for name, unit in world.by_alias.items()}}
    measure_s, units = times
    drafts = list(_drafts(entry, measure_s, reader))
    drafts.sort(key=lambda draft: draft[0].at_s)
    for (one, _, at), (two, _, other) in pairwise(drafts):
        if two.at_s - one.at_s < _APART_S:
            reader.report(experiment_errors.EventsTogether(other.span, at.span, two.at_s))

    def placed(clients: Mapping[str, plan.Client], tool: ToolSpec, loads: Sequence[Load]) -> Events:
        if drafts and not tool.time_series:
            reader.report(experiment_errors.NoTimeSeries(drafts[0][2].span, tool.word))
        if drafts and (load := next((load for load in loads if load.ends), None)):
            reader.report(experiment_errors.EventInLoad(drafts[0][2].span, load.workload.name))
        return {
            unit.hardware.key: tuple(
                event.model_copy(update={"hosts": _hosts(place, unit, clients.get(unit.hardware.key), known, reader)})
                for event, place, _ in drafts
            )
            for unit in units
        }

    return placed


def _drafts(entry: Entry, measure_s: float, reader: Reader) -> Iterator[tuple[Event, _Place, ast.Expr]]:
    """Yield each event without its hosts, where it runs, and its time as written."""
    for block in entry.all("at"):
        if block.base is None:
            continue
        values = reader.block(block, EVENT, complete=False)
        at = reader.quantity("at", block.base, _TIME)
        _check_label(block, reader)
        call = _command(block, reader)
        steady_s = values.number("steady") or _STEADY_S
        if at is not None and at.value + steady_s > measure_s:
            reader.report(experiment_errors.EventAfterEnd(block.base.span, at.value, measure_s, steady_s))
            at = None
        if at is None or call is None:
            continue
        line, place, timeout_s = call
        draft = Event(
            at_s=at.value,
            label=block.label,
            line=line,
            hosts=(),
            timeout_s=timeout_s,
            window_s=values.number("window") or _WINDOW_S,
            within=values.number("within") or _SHARE,
            steady_s=steady_s,
            outage=values.number("outage") or _SHARE,
            data="kept" if values.text("data") == "kept" else "changed",
            origin=origin(block.base.span),
        )
        yield draft, place, block.base


def _check_label(block: Entry, reader: Reader) -> None:
    if not block.labelled or not block.label.strip():
        reader.report(experiment_errors.BadEventLabel(block.head, "is missing or empty"))
    elif any(unicodedata.category(char) in ("Cc", "Zl", "Zp") for char in block.label):
        reader.report(experiment_errors.BadEventLabel(block.head, "has line ends or control characters"))


def _command(block: Entry, reader: Reader) -> tuple[str, _Place, float] | None:
    """Return the line, where it runs, and how long it may take; None after a mistake."""
    said = block.attributes.get("command")
    match said and said.values:
        case None:
            return reader.refuse(experiment_errors.NotOneCommand(block.head, "none"))
        case (ast.Call(function=ast.Name(text="command"), arguments=[ast.Argument(key=None, value=text), *rest]),):
            pass
        case _:
            span = said.span if said else block.head
            return reader.refuse(structure_errors.BadArgument(span, "command", "needs a command", _USAGE))
    line = reader.value("command", text, Text())
    place, timeout_s = None, _TIMEOUT_S
    for argument in rest:
        name = argument.key.text if argument.key else ""
        if argument.key is None:
            why = "takes one command; all other arguments have names"
            reader.report(structure_errors.BadArgument(argument.span, "command", why, _USAGE))
        elif name == "on":
            place = _place(argument.value, reader)
        elif name == "timeout":
            found = reader.value("timeout", argument.value, _TIMEOUT)
            timeout_s = found.value if isinstance(found, Constant) else _TIMEOUT_S
        else:
            reader.report(structure_errors.UnknownArgument(argument.key.span, "command", name, _ARGUMENTS))
    if place is None and all(argument.key is None or argument.key.text != "on" for argument in rest):
        reader.report(experiment_errors.NoEventHost(said.span if said else block.head))
    return (line, place, timeout_s) if isinstance(line, str) and place is not None else None


def _place(expr: ast.Expr, reader: Reader) -> _Place | None:
    found = reader.deref(expr)
    if isinstance(found, ast.String):
        text = reader.value("on", found, Text())
        return _Place(text, expr) if isinstance(text, str) else None
    return _Place("".join(found.span.text.split()), expr)  # `nve-1` is read as a difference


def _hosts(
    place: _Place, unit: HardwareUnit, client: plan.Client | None, known: Mapping[str, Sequence[str]], reader: Reader
) -> tuple[str, ...]:
    """Return the hosts of a cell that the command runs on; none after a mistake."""
    under_test = unit.hardware.hosts
    own = (*under_test, *(client.hosts if client else ()))
    if place.word == "first":
        return under_test[:1]
    if place.word == "each":
        return under_test
    named = tuple(known.get(place.word, (place.word,)))
    if set(named) <= set(own):
        return named
    words = ("first", "each", *(name for name, hosts in known.items() if set(hosts) <= set(own)), *own)
    of = f"the cells of `{unit.hardware.key}`"
    reader.report(experiment_errors.NoSuchEventHost(place.expr.span, place.word, of, tuple(dict.fromkeys(words))))
    return ()

"""Reads experiments: the hardware, database, client, workloads and points that belong together, and checks whether they
fit."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import pairwise
from typing import Literal, Protocol, TypeVar

from benchbrief.compiler.blocks import equipment_errors, experiment_errors, factor_errors
from benchbrief.compiler.blocks.arrivals import DeclaredArrivals, check_arrivals, read_arrivals, times_of
from benchbrief.compiler.blocks.databases import DatabaseSpec, database_on
from benchbrief.compiler.blocks.factors import (
    BlocksAtLevels,
    Factors,
    Varied,
    bound_to,
    own_levels,
    read_varied,
    workload_key,
)
from benchbrief.compiler.blocks.hardware import HardwareUnit
from benchbrief.compiler.blocks.measured_times import Times, fitting_repeats, overlap_of, read_repeats, read_times
from benchbrief.compiler.blocks.probes import DeclaredProbe, read_probes, warn_of_short_window
from benchbrief.compiler.blocks.ramps import (
    Axis,
    KneeReference,
    Ramp,
    Ramps,
    check_promise,
    errors_allowed,
    plan_promise,
    read_ramp,
)
from benchbrief.compiler.blocks.values import Constant, Reader, Values, listed, origin, wrong_value
from benchbrief.compiler.blocks.workloads import ReadWorkload, can_load, load_phase, with_records
from benchbrief.compiler.frontend import name_errors, structure_errors, value_errors
from benchbrief.compiler.frontend.declarations import Entry
from benchbrief.compiler.registry import TOOL_SPECS, remedy, tools_from_due
from benchbrief.compiler.schemas import EVENT, EXPERIMENT
from benchbrief.dsl.diagnostics.plain_amounts import quantity_of_bytes
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.dsl.lazy_dataclass import cached_property, dataclass
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan
from benchbrief.model.achieved_load import Schedule
from benchbrief.model.engine_spec import EngineSpec
from benchbrief.model.fingerprint import database_parts, workload_parts
from benchbrief.model.plan import Event, Levels
from benchbrief.model.tool_spec import ToolSpec
from benchbrief.model.value_shapes import Number, Text

_CLOSE = 1.1
"""A workload's records may be at most this many times larger or smaller than the size that its database declares."""
_TIME = Number("s", "5 min", minimum=5.0)
_TIMEOUT = Number("s", "30 s", above=True)
_TIMEOUT_S, _WINDOW_S, _STEADY_S, _SHARE = 30.0, 30.0, 5.0, 0.1
_APART_S = 1.0
_USAGE = '`command("...", on: first, timeout: 10 s)`'
_ARGUMENTS = ("on", "timeout")


@dataclass(frozen=True)
class _Place:
    """Where a command runs: the word in the spec ("" after a mistake), and the position of that word in the text."""

    word: str
    expr: ast.Expr


class NamedHosts(Protocol):
    """The parts of a spec that have hosts, by name. A client with a mistake has the value None."""

    @property
    def clients(self) -> Mapping[str, plan.Client | None]: ...
    @property
    def by_alias(self) -> Mapping[str, HardwareUnit]: ...
    @property
    def by_group(self) -> Mapping[str, Sequence[HardwareUnit]]: ...


Events = Mapping[str, tuple[Event, ...]]
"""The events of an experiment by hardware key. Each event has the hosts that it runs on."""


def read_events(
    entry: Entry, world: NamedHosts, times: tuple[float, Sequence[HardwareUnit]], reader: Reader
) -> Callable[[Mapping[str, plan.Client], ToolSpec, EngineSpec, Sequence[ReadWorkload]], Events]:
    """Return a function that places the events of an experiment on the hosts of its cells.

    `world` has the parts of the spec that have hosts. `times` holds the measured seconds and the hardware units.
    """
    measure_s, units = times
    drafts = list(_drafts(entry, measure_s, reader))
    drafts.sort(key=lambda draft: draft[0].at_s)
    for (one, _, at), (two, _, other) in pairwise(drafts):
        if two.at_s - one.at_s < _APART_S:
            reader.report(experiment_errors.EventsTogether(other.span, at.span, two.at_s))

    def placed(
        clients: Mapping[str, plan.Client], tool: ToolSpec, engine: EngineSpec, loads: Sequence[ReadWorkload]
    ) -> Events:
        if drafts and not tool.time_series:
            advice = remedy(tool, engine, "time_series")
            reader.report(experiment_errors.NoTimeSeries(drafts[0][2].span, tool.word, advice))
        if drafts and (load := next((load for load in loads if load.ends), None)):
            reader.report(experiment_errors.EventInLoad(drafts[0][2].span, load.workload.name))
        known = _hosts_by_name(world) if drafts else {}
        return {
            unit.hardware.key: tuple(
                event.model_copy(update={"hosts": _hosts(place, unit, clients.get(unit.hardware.key), known, reader)})
                for event, place, _ in drafts
            )
            for unit in units
        }

    return placed


def _hosts_by_name(world: NamedHosts) -> Mapping[str, Sequence[str]]:
    """Return the hosts of each client, hardware group and variant by its name."""
    clients = {name: client.hosts for name, client in world.clients.items() if client}
    groups = {name: named[0].hardware.hosts for name, named in world.by_group.items()}
    return {**clients, **groups, **{name: unit.hardware.hosts for name, unit in world.by_alias.items()}}


def _drafts(entry: Entry, measure_s: float, reader: Reader) -> Iterator[tuple[Event, _Place, ast.Expr]]:
    """Yield each event without its hosts, together with the place where it runs, and its time as written in the
    spec."""
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
    """Return the command line, where it runs, and how long it may take, or None after a mistake."""
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
    """Return the hosts of a cell that run the command, or no hosts after a mistake."""
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


@dataclass(frozen=True)
class NamedBlocks:
    """The declarations that an experiment may name. A declaration with a mistake has the value None."""

    hardware: Mapping[str, HardwareUnit]
    clients: Mapping[str, plan.Client | None]
    databases: BlocksAtLevels[DatabaseSpec]
    workloads: BlocksAtLevels[ReadWorkload]
    probes: Mapping[str, DeclaredProbe | None]
    factors: Factors
    hosts: Mapping[str, plan.Host]
    language: str
    """The language of the built-in labels and descriptions."""

    @cached_property
    def by_alias(self) -> Mapping[str, HardwareUnit]:
        return {alias: unit for unit in self.hardware.values() for alias in unit.aliases}

    @cached_property
    def by_group(self) -> Mapping[str, list[HardwareUnit]]:
        groups: dict[str, list[HardwareUnit]] = {}
        for unit in self.hardware.values():
            groups.setdefault(unit.hardware.group, []).append(unit)
        return groups


def clients_by_hardware(
    clients: Sequence[plan.Client], groups: Sequence[tuple[str, ...]], values: Values, reader: Reader
) -> Mapping[str, plan.Client]:
    """Return the client of each hardware group by the group's key.

    There is one client for all groups, or one for each item of `hardware`, in order. Report too few or too many
    clients, and clients with different tools.
    """
    alike = {key: clients[0] for group in groups for key in group}
    if len(clients) == 1:
        return alike
    at = values.span("client")
    if len(clients) != len(groups):
        reader.report(experiment_errors.ClientsUnfit(at, len(clients), len(groups)))
        return alike
    if other := next((each for each in clients if each.tool != clients[0].tool), None):
        reader.report(experiment_errors.ClientsUnfit(at, len(clients), len(groups), (clients[0].name, other.name)))
    return {key: client for client, group in zip(clients, groups, strict=True) for key in group}


def largest_client(clients: Mapping[str, plan.Client]) -> plan.Client | None:
    """Return the client with the most hosts, or None if there is no client. The ramp must suit this client."""
    return max(clients.values(), key=lambda client: len(client.hosts), default=None)


@dataclass(frozen=True)
class PartChecks:
    """Checks whether the parts of an experiment fit together. `places` has the place of each hardware group and
    workload."""

    entry: Entry
    values: Values
    reader: Reader
    places: Mapping[tuple[str, str], Span]

    def check_shares(
        self,
        client: plan.Client | None,
        tool: ToolSpec,
        engine: EngineSpec,
        loads: tuple[ReadWorkload, ...],
        ramps: Ramps | None,
    ) -> None:
        """Report a load that can't be split over the client's hosts."""
        if client is None or len(client.hosts) < 2:
            return
        findings, hosts = self.reader.findings, len(client.hosts)
        if ramps is not None:
            threads = min((ramps.ramp if ramps.axis == "threads" else ramps.threads).points, default=hosts)
            if threads < hosts:
                span = self.values.span("threads")
                findings.add(experiment_errors.FewThreads(span, int(threads), client.name, hosts))
            target = min(ramps.ramp.points, default=hosts) if ramps.axis == "target" else hosts
            if target < hosts:
                findings.add(experiment_errors.SmallTarget(self.values.span("target"), target, client.name, hosts))
        if not tool.mergeable:
            span = self.values.span("client") if self.values.said("client") else self.entry.head
            findings.add(name_errors.PrintedPercentiles(span, tool.word, hosts, remedy(tool, engine, "mergeable")))
        for load in loads:
            if load.from_one_host:
                span, name = self.places["workload", load.workload.name], load.workload.name
                findings.add(name_errors.InsertsFromOneHost(span, name, client.name, client.hosts[0], tool.label))

    def check_most(
        self, client: plan.Client | None, tool: ToolSpec, ramps: Ramps | None, said: DeclaredArrivals | None
    ) -> None:
        """Report more threads or a higher rate than the tool can handle on each of the client's hosts."""
        hosts = len(client.hosts) if client else 1
        threads = (ramps.ramp if ramps.axis == "threads" else ramps.threads).points if ramps else ()
        targets = ramps.ramp.points if ramps and ramps.axis == "target" else ()
        rates = (*said.arrivals.rates, said.arrivals.burst_rate) if said else ()
        if 0 < min(threads, default=tool.fewest_threads) < tool.fewest_threads * hosts:
            span, wanted = self.values.span("threads"), f"{tool.fewest_threads * hosts:,} or more"
            problem = value_errors.AgainstLimit(span, tool.word, "threads", f"{min(threads):,.0f}", wanted)
            self.reader.findings.add(problem)
        rate = f"{tool.most_rate:,.0f} ops/s or less"
        for place, key, values, most, wanted in (
            ("threads", "threads", threads, float(tool.most_threads), f"{tool.most_threads:,} or fewer"),
            ("target", "target", targets, tool.most_rate, rate),
            ("arrivals", "rate", rates, tool.most_rate, rate),
        ):
            value = max(values, default=0.0)
            if most and value > most * hosts:
                span, each = self.values.span(place), " on each host" if hosts > 1 else ""
                problem = value_errors.AgainstLimit(span, tool.word, key, f"{value:,.0f}", f"{wanted}{each}")
                self.reader.findings.add(problem)

    def service_only(
        self, tool: ToolSpec, ramps: Ramps, engine: EngineSpec
    ) -> tuple[Span, str, tuple[str, ...]] | None:
        """If a load is offered and its tool's latencies leave out how long operations wait, return the load's place,
        the tool, and the engine's tools that include the wait. Return None for other loads."""
        if ramps.axis != "target" or tool.intended_latency or not tool.open_loop:
            return None
        span, others = self.values.span("target"), tools_from_due(engine)
        if ramps.ramp.search:
            self.reader.report(name_errors.ServiceKnee(span, tool.word, others))
        return span, tool.word, others

    def unmerged(
        self, tool: ToolSpec, engine: EngineSpec, client: plan.Client | None, repeats: int
    ) -> tuple[Span, str, str] | None:
        """If the tool's percentiles can't be merged over repeats, return the place of the repeats, the tool, and advice
        on what to do instead.

        Percentiles that can't be merged over several hosts are reported elsewhere.
        """
        if repeats < 2 or tool.mergeable or (client and len(client.hosts) > 1):
            return None
        return self.values.span("repeats"), tool.word, remedy(tool, engine, "mergeable")

    def fitting(
        self, loads: Sequence[ReadWorkload], database: DatabaseSpec, units: tuple[HardwareUnit, ...]
    ) -> tuple[ReadWorkload, ...]:
        """Return the workloads for this database, with the records that fill its declared size."""
        findings, engine = self.reader.findings, database.engine
        usual = TOOL_SPECS.usable(database.tool.driver if database.tool else engine.default_tool)
        for load in loads:
            name, family = load.workload.name, load.family
            span = self.places["workload", name]
            if not _runs(database, family):
                base = f"{usual.family}.{next(iter(_workloads_of(usual)), '')}" if usual else ""
                label = usual.label if usual else engine.default_tool
                tools = (TOOL_SPECS.usable(tool) for tool in engine.tools)
                other = next((tool.word for tool in tools if tool and tool.family == family.name), "")
                what = f"uses {label}" if database.tool else f"is {engine.name}"
                findings.add(
                    equipment_errors.WorkloadMismatch(
                        span, name, family.name, database.name, what, engine.label, label, base, other
                    )
                )
        if not engine.in_process:
            return tuple(loads)
        for unit in units:
            if unit.hardware.nodes > 1:
                place, key = self.places["hardware", unit.hardware.key], unit.hardware.key
                findings.add(equipment_errors.OneHostOnly(place, key, unit.hardware.nodes, engine.label))
        size = database.size
        if size is None:
            return tuple(loads)
        for load in loads:
            if load.counted is None or not load.family.record or findings.at(load.counted):
                continue
            properties, name = load.workload.properties, load.workload.name
            made = float(properties["records"]) * load.family.record_bytes(properties)
            if not size / _CLOSE < made < size * _CLOSE:
                findings.add(experiment_errors.OtherSize(load.counted, name, made, database.name, size))
        return tuple(load if load.counted or not load.family.record else with_records(load, size) for load in loads)

    def check_blocks(self, loads: tuple[ReadWorkload, ...], database: DatabaseSpec, ramps: Ramps | None) -> None:
        """Report workloads that read or write blocks larger than the database. If each thread has a part of its own,
        the database must hold one block for every thread."""
        ramp = None if ramps is None else ramps.ramp if ramps.axis == "threads" else ramps.threads
        most = int(max(ramp.points, default=1)) if ramp else 1
        for load in loads:
            block = load.family.block
            if not block or database.size is None or load.of:
                continue
            parted = load.family.workloads[load.workload.benchmark].parted
            each, parts = float(load.workload.properties[block]), most if parted else 1
            if each * parts > database.size:
                span = self.places["workload", load.workload.name]
                blocks = f"blocks of {quantity_of_bytes(each)}"
                needs = f"{parts} threads with {blocks}" if parts > 1 else blocks
                fewer = ", or use fewer `threads`" if parts > 1 else ""
                whole = quantity_of_bytes(database.size)
                self.reader.report(value_errors.BlockTooLarge(span, needs, database.name, whole, block, fewer))

    def check_loads(self, loads: tuple[ReadWorkload, ...], phases: int, tool: ToolSpec, engine: EngineSpec) -> None:
        for load in loads:
            span, name = self.places["workload", load.workload.name], load.workload.name
            instead = load.family.name if load.family.name in {*engine.tools} - {tool.name} else ""
            for key, values in tool.lacks.items():
                if (value := load.workload.properties.get(key)) in values:
                    self.reader.report(experiment_errors.NotOfTool(span, tool.word, key, str(value), name, instead))
            if load.of and load.family.loads and not tool.loads:
                self.reader.report(experiment_errors.LoadingNotTimed(span, tool.word, name, instead))
            if load.ends and phases > 1:
                span = self.places["workload", load.workload.name]
                self.reader.report(experiment_errors.LoadInPhases(span, load.workload.name))

    def check_tool(self, tool: ToolSpec, database: DatabaseSpec, times: Times) -> None:
        """Report features that the tool lacks: an offered load, phases, fractions of a second."""
        findings, engine = self.reader.findings, database.engine
        if self.values.said("target") and not tool.open_loop:
            span, advice = self.values.span("target"), remedy(tool, engine, "open_loop")
            findings.add(experiment_errors.ClosedLoopOnly(span, tool.word, advice))
        if times.phases > 1 and not tool.phases:
            span, advice = self.values.span("phases"), remedy(tool, engine, "phases")
            findings.add(experiment_errors.NoPhases(span, tool.word, advice))
        if not tool.whole_seconds:
            return
        warm_up = self.values.constant("warm_up")
        said = [*([("warm_up", warm_up)] if warm_up else []), *times.said]
        for key, constant in said:
            if constant.value != int(constant.value):
                findings.add(value_errors.NotWholeSeconds(constant.span, key, constant.text, tool.label))


def _runs(database: DatabaseSpec, family: ToolSpec) -> bool:
    """Return whether one of the database's tools runs the workloads of a family."""
    of = (database.tool.driver,) if database.tool else database.engine.tools
    tools = [TOOL_SPECS.usable(tool) for tool in of]
    named = any(tool is not None and tool.family == family.name for tool in tools)
    return named or database.engine.name in family.drives


def _workloads_of(tool: ToolSpec) -> tuple[str, ...]:
    family = TOOL_SPECS.usable(tool.family)
    return tuple(family.workloads) if family else ()


EVEN = ("constant", "poisson", "closed")
"""The kinds of arrivals that allow a rate to become steady."""


@dataclass(frozen=True)
class SteadyParts:
    """The parts of an experiment that may rule out `until_steady`."""

    tool: ToolSpec
    engine: EngineSpec
    client: plan.Client | None
    arrivals: DeclaredArrivals | None
    loads: Sequence[ReadWorkload]


def check_steady(times: Times, entry: Entry, of: SteadyParts, reader: Reader) -> None:
    """Report a tool, a client or a load that can't be used with `until_steady`."""
    if times.rule is None:
        return
    if not of.tool.ends_when_steady:
        advice = remedy(of.tool, of.engine, "ends_when_steady")
        reader.report(experiment_errors.NotUntilSteady(times.rule, of.tool.word, advice))
    elif of.client is not None and len(of.client.hosts) > 1:
        reader.report(experiment_errors.SteadyOfSeveral(times.rule, of.client.name, len(of.client.hosts)))
    for what, why in _never_steady(entry, of):
        reader.report(experiment_errors.NeverSteady(times.rule, entry.name, what, why))


def _never_steady(entry: Entry, of: SteadyParts) -> Iterator[tuple[str, str]]:
    if entry.all("at"):
        yield "its events", "an event disturbs it"
    kind = of.arrivals.arrivals.kind if of.arrivals else "constant"
    if kind not in EVEN:
        yield f"`arrivals = {kind}(...)`", f"the rate of `{kind}` is never steady"
    for load in of.loads:
        if load.ends:
            name = f"`{load.workload.name}`"
            yield name, "a load ends with its last record" if load.of else f"{name} ends with its last record"
        elif "operations" in load.workload.properties:
            name = load.workload.name
            yield f"`operations` of workload `{name}`", f"`operations` of workload `{name}` end it too"


MAX_CELLS = 200_000

Item = TypeVar("Item")
_ON_FAILURE: Mapping[str, Literal["stop", "try_all"]] = {"stop": "stop", "try_all": "try_all"}


@dataclass(frozen=True)
class Matrix:
    """An experiment whose parts fit together. The keys of `clients` and `probes` are hardware keys.

    `awaits` maps `threads` or `target` to the experiment that finds the knee to use. `knees` maps hardware, workload
    and levels to the search that finds their knee (see `compiler/resolve.py`).
    """

    experiment: plan.Experiment
    units: tuple[HardwareUnit, ...]
    loads: tuple[ReadWorkload, ...]
    """The workloads at the default level of each factor. For other levels, see `load_at`."""
    database: DatabaseSpec
    databases: Mapping[plan.DatabaseKey, plan.Database]
    probes: Mapping[str, tuple[plan.Probe, ...]]
    asked: tuple[str, ...]
    """The names of the experiment's probes, including those whose meter the profile removes."""
    service_only: tuple[Span, str, tuple[str, ...]] | None
    unmerged: tuple[Span, str, str] | None
    clients: Mapping[str, plan.Client]
    """The clients by hardware key. A library engine has none, since the hosts under test generate its load."""
    tool: plan.Tool
    tool_spec: ToolSpec
    threads: int | None
    """The number of threads for a `target` ramp, or None if the ramp varies the threads or a search finds their number.
    """
    awaits: Mapping[Axis, KneeReference]
    span: Span
    places: Mapping[str, Span] = field(default_factory=dict)
    """The place of each attribute's value."""
    knees: Mapping[Axis, Mapping[tuple[str, str, Levels], plan.Knee]] = field(default_factory=dict)
    events: Events = field(default_factory=dict)
    factors: Factors = field(default_factory=Factors)
    uses: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The factors that each workload uses, by the workload's name. The factors of the database have the key ""."""
    loads_at: Mapping[str, ReadWorkload] = field(default_factory=dict)
    """The workloads by their keys in a plan."""

    @cached_property
    def data_parts(self) -> dict[int, tuple[str, dict[str, object]]]:
        """The properties of a database that its data sets depend on, by the database's `id()`. They are filled in by
        `expand.py`."""
        return {}

    @cached_property
    def data_places(self) -> dict[tuple[str, int], tuple[object, ...]]:
        """The place of a database's data on each hardware group, by the database's `id()`. Like `data_parts`, it is
        filled in by `expand.py`."""
        return {}

    @property
    def levels(self) -> tuple[Levels, ...]:
        """The combinations of levels that the experiment measures. An experiment that varies nothing has one
        combination without levels."""
        return self.experiment.levels or (Levels(),)

    def database_key(self, hardware: str, levels: Levels) -> plan.DatabaseKey:
        own = own_levels(self.uses[""], levels, self.factors) if self.factors else levels
        return plan.DatabaseKey.of(self.database.name, hardware, own)

    def workload_key(self, workload: str, levels: Levels) -> str:
        """Return the key of a workload in the plan: its name, unless the workload differs from the one at the default
        levels."""
        return workload_key(workload, self.uses[workload], levels, self.factors) if self.factors else workload

    def load_at(self, workload: str, levels: Levels) -> ReadWorkload:
        return self.loads_at[self.workload_key(workload, levels)]

    def load_hosts(self, unit: HardwareUnit, load: ReadWorkload) -> tuple[str, ...]:
        """Return the hosts that generate the load, or only one host if several would repeat the same work."""
        client = self.clients.get(unit.hardware.key)
        if client is None:
            return unit.hardware.hosts
        return client.hosts[:1] if load.from_one_host else client.hosts

    @property
    def points(self) -> tuple[float | None, ...]:
        """Return the points of the axis, or no points if a search has to find them."""
        return self.experiment.points or (None,)

    @property
    def cells(self) -> int:
        e = self.experiment
        return len(e.hardware) * len(e.workloads) * len(self.levels) * len(self.points) * e.repeats


def databases_of(matrices: Iterable[Matrix]) -> dict[plan.DatabaseKey, plan.Database]:
    """Return the databases of all matrices by their keys in a plan."""
    return {key: database for each in matrices for key, database in each.databases.items()}


def read_experiments(entries: Mapping[str, Entry], world: NamedBlocks, reader: Reader) -> tuple[Matrix, ...]:
    matrices: list[Matrix] = []
    cells = 0
    for entry in entries.values():
        matrix = _Experiment(entry, world, reader).matrix()
        if matrix is None:
            continue
        cells += matrix.cells
        if cells > MAX_CELLS:
            e = matrix.experiment
            sizes = ((len(e.hardware), "hardware"), (len(e.workloads), "workloads"), (len(matrix.points), "points"))
            product = " x ".join(f"{size} {of}" for size, of in (*sizes, (e.repeats, "repeats")))
            reader.report(value_errors.TooManyCells(entry.head, entry.name, cells, MAX_CELLS, product))
            break
        matrices.append(matrix)
    return tuple(matrices)


def _most_alike(combinations: Sequence[Levels], factor: str) -> Sequence[Levels]:
    """Return the largest set of combinations that are alike in every factor except the given one."""
    alike: dict[tuple[object, ...], list[Levels]] = {}
    for levels in combinations:
        keys = levels.keys
        del keys[factor]
        alike.setdefault(tuple(keys.values()), []).append(levels)
    return max(alike.values(), key=len)


class _Experiment:
    """Builds the matrix of an experiment from its block."""

    def __init__(self, entry: Entry, world: NamedBlocks, reader: Reader) -> None:
        self.entry = entry
        self.world = world
        self.reader = reader
        self.values = reader.block(entry, EXPERIMENT)
        self.places: dict[tuple[str, str], Span] = {}
        """The place of each hardware group and each workload."""
        self.groups: list[tuple[str, ...]] = []
        """The keys of the hardware that each item of `hardware` names."""
        self.uses: dict[str, tuple[str, ...]] = {}
        """The factors that each workload uses, by the workload's name. The factors of the database have the key ""."""

    def matrix(self) -> Matrix | None:
        """Return the experiment's matrix, or None if the spec has a mistake in it."""
        units = self._hardware()
        loads = self._workloads()
        database = self._one("database", self.world.databases, loads[0].workload.family if loads else "")
        ramps = self._ramp()
        said = read_arrivals(self.entry, self.values, self.reader)
        times = times_of(said, self.entry, self.values, self.reader) or read_times(self.entry, self.values, self.reader)
        repeats = read_repeats(self.values.series("repeats"), self.reader)
        place_events = read_events(self.entry, self.world, (times.measure_s, units), self.reader)
        placed = read_probes(self.values.series("probes"), self.world.probes, units, database, self.reader)
        if database is None or not units or not loads:
            return None
        clients, tool = self._load_generator(database)
        client = largest_client(clients)
        varied = read_varied(self.values, self.world.factors, self.reader)
        spec = TOOL_SPECS.usable(tool.driver) if tool else None
        if tool is None or spec is None:
            return None
        if varied is None:
            return None
        levels = varied.combinations
        fits = PartChecks(self.entry, self.values, self.reader, self.places)
        databases = self._databases(database, units, levels)
        loads_at = self._loads_at(loads, database, levels, lambda load, spec: fits.fitting((load,), spec, units)[0])
        if loads_at is None:
            return None
        self._check_cells(varied, databases, loads_at, database.name)
        loads, every = tuple(loads_at[load.workload.name] for load in loads), tuple(loads_at.values())
        fits.check_shares(client, spec, database.engine, every, ramps)
        fits.check_most(client, spec, ramps, said)
        fits.check_tool(spec, database, times)
        arrivals = check_arrivals(said, spec, database.engine, (self.values, times.measure_s), self.reader)
        fits.check_loads(every, times.phases, spec, database.engine)
        check_steady(times, self.entry, SteadyParts(spec, database.engine, client, said, every), self.reader)
        fits.check_blocks(every, database, ramps)
        if ramps is None or (said is None and self.values.said("arrivals")):
            return None
        warn_of_short_window(self.entry.name, placed, times.measure_s, self.reader)
        repeats, promised = fitting_repeats(repeats, ramps.ramp, self.values, self.reader), ramps.ramp.promised
        if promised:
            schedule = Schedule(arrivals, self.values.number("warm_up") or 0.0)
            lowest = ramps.ramp.points[0], times.until.from_s if times.until else times.measure_s
            check_promise(promised, every, spec, database.engine, (schedule, *lowest), self.reader)
        awaits = ramps.awaits
        return Matrix(
            experiment=plan.Experiment(
                name=self.entry.name,
                label=self.entry.label,
                hardware=tuple(unit.hardware.key for unit in units),
                levels=levels if varied.levels else (),
                workloads=tuple(load.workload.name for load in loads),
                axis=ramps.axis,
                points=ramps.ramp.points,
                search=ramps.ramp.search,
                adaptive=ramps.ramp.adaptive,
                promise=plan_promise(promised, ramps.ramp.points, repeats.most) if promised else None,
                threads_from=awaits["threads"].experiment if "threads" in awaits else None,
                target_from=awaits["target"].experiment if "target" in awaits else None,
                requires=tuple(dict.fromkeys(knee_of.experiment for knee_of in awaits.values())),
                warm_up_s=self.values.number("warm_up") or 0.0,
                measure_s=times.measure_s,
                until_steady=times.until,
                phases=times.phases,
                repeats=repeats.most,
                confident=repeats.confident,
                budget_s=self.values.number("budget"),
                order=repeats.order,
                seed=repeats.seed,
                overlap=overlap_of(self.values.text("overlap")),
                cool_down_s=self.values.number("cool_down") or 0.0,
                retries=int(self.values.number("retries") or 0),
                on_failure=_ON_FAILURE.get(self.values.text("on_failure") or "", "continue"),
                slack_s=self.values.number("timeout"),
                unattended_s=self.values.number("unattended"),
                max_error_share=errors_allowed(self.values.number("max_errors"), promised),
                arrivals=arrivals,
                origin=origin(self.entry.head),
            ),
            units=units,
            loads=loads,
            database=database,
            databases=databases,
            probes=placed.probes,
            asked=tuple(placed.asked),
            service_only=fits.service_only(spec, ramps, database.engine),
            unmerged=fits.unmerged(spec, database.engine, client, repeats.most),
            clients=clients,
            tool=tool,
            tool_spec=spec,
            threads=int(ramps.threads.points[0]) if ramps.axis == "target" and ramps.threads.points else None,
            awaits=awaits,
            events=place_events(clients, spec, database.engine, every),
            factors=self.world.factors,
            uses=self.uses,
            loads_at=loads_at,
            span=self.entry.head,
            places={key: self.values.span(key) for key in self.entry.attributes},
        )

    # --- what is named ---------------------------------------------------------------------------------------------

    def _hardware(self) -> tuple[HardwareUnit, ...]:
        """Return the named hardware, or nothing if one name is wrong, since any further messages would be wrong too."""
        units: dict[str, HardwareUnit] = {}
        whole = True
        for item in self._items("hardware"):
            named = self._units(item)
            self.groups.append(tuple(unit.hardware.key for unit in named))
            whole = whole and bool(named)
            for unit in named:
                if self._first("hardware", unit.hardware.key, item.span):
                    units[unit.hardware.key] = unit
        return tuple(units.values()) if whole else ()

    def _items(self, key: str) -> tuple[ast.Expr, ...]:
        series = self.values.series(key)
        items = listed(self.reader.deref(expr) for expr in series)
        if series and not items:
            self.reader.report(name_errors.NothingNamed(series[0].span, key, EXPERIMENT.keys[key].shape.wanted))
        return tuple(self.reader.deref(item) for item in items)

    def _first(self, kind: str, name: str, span: Span) -> bool:
        """Return whether the name has not occurred before. Report a repeated name."""
        earlier = self.places.setdefault((kind, name), span)
        if earlier is not span:
            self.reader.report(name_errors.NamedTwice(span, earlier, kind, name))
        return earlier is span

    def _units(self, item: ast.Expr) -> list[HardwareUnit]:
        by_alias, by_group = self.world.by_alias, self.world.by_group
        match item:
            case ast.Name(text=name) if name in by_alias:
                return [by_alias[name]]
            case ast.Name(text=name) if name in by_group:
                variants = tuple(unit.name for unit in by_group[name])
                self.reader.report(name_errors.HasVariants(item.span, name, variants))
                return by_group[name]
            case ast.Attr(base=ast.Name(text=name), field=ast.Name(text="variants")) if name in by_group:
                if name in by_alias:
                    self.reader.report(name_errors.NoVariants(item.span, name))
                return by_group[name]
            case ast.Attr(base=ast.Name(text=name), field=field) if name in by_group:
                if f"{name}.{field.text}" in by_alias:
                    return [by_alias[f"{name}.{field.text}"]]
                variants = tuple(unit.name for unit in by_group[name])
                if name in by_alias and not did_you_mean(field.text, ("variants",)):
                    self.reader.report(name_errors.NoVariants(item.span, name))
                    return by_group[name]
                known = ("variants", *(() if name in by_alias else variants))
                meant = self._meant(field.span, "variant", field.text, known)
                return by_group[name] if meant == "variants" else self._named(f"{name}.{meant}")
            case ast.Attr(base=ast.Name(text=name) as base, field=field) if did_you_mean(name, by_group):
                meant = self._meant(base.span, "hardware", name, by_group)
                return by_group[meant] if field.text == "variants" else self._named(f"{meant}.{field.text}")
            case ast.Name() | ast.Attr():
                known = tuple(dict.fromkeys((*by_group, *by_alias)))
                return self._named(self._meant(item.span, "hardware", item.span.text, known))
            case _:
                self._wrong("hardware", item, (*by_group, *by_alias))
        return []

    def _named(self, name: str) -> list[HardwareUnit]:
        return [self.world.by_alias[name]] if name in self.world.by_alias else self.world.by_group.get(name, [])

    def _meant(self, span: Span, kind: str, name: str, known: Iterable[str]) -> str:
        """Report an unknown name. Return the name that it most likely means, or "" if there is none, so that other
        mistakes still show."""
        problem = name_errors.UnknownName(span, kind, name, tuple(known))
        self.reader.report(problem)
        return "" if self.reader.findings.more else problem.replacement or ""

    def _workloads(self) -> tuple[ReadWorkload, ...]:
        """Return the named workloads, or nothing if one name is wrong."""
        found = [(item, self._load(item)) for item in self._items("workloads")]
        new = [load for item, load in found if load and self._first("workload", load.workload.name, item.span)]
        return tuple(new) if all(load for _, load in found) else ()

    def _load(self, item: ast.Expr) -> ReadWorkload | None:
        match item:
            case ast.Name() as word:
                return self._chosen("workload", word, self.world.workloads)
            case ast.Call(function=ast.Name(text="load")) as call:
                return self._load_phase(call)
            case ast.Call(function=ast.Name(text=word) as name):
                return self.reader.refuse(structure_errors.UnknownWord(name.span, "workloads", word, ("load",)))
            case _:
                return self._wrong("workloads", item, self.world.workloads)

    def _load_phase(self, call: ast.Call) -> ReadWorkload | None:
        match call.arguments:
            case [ast.Argument(key=None, value=ast.Name(text=name) as word)]:
                load = self._chosen("workload", word, self.world.workloads)
                if load is not None and not load.family.loads:
                    fills = (each for each, said in load.family.workloads.items() if not said.existing and said.timed)
                    fill = next(fills, next(iter(load.family.workloads)))
                    return self.reader.refuse(experiment_errors.NoMeasuredLoad(call.span, name, load.family.name, fill))
                return load and load_phase(load, self.world.language, alone=len(self.world.workloads) == 1)
            case _:
                why = "takes the name of one workload"
                self.reader.report(structure_errors.BadArgument(call.span, "load", why, "`load(a)`"))
        return None

    def _one(self, kind: str, known: Mapping[str, Item | None], family: str = "") -> Item | None:
        """Return the client or database that the experiment names, or the only one in the spec if it names none."""
        series = self.values.series(kind)
        if not series:
            if len(known) == 1:
                return next(iter(known.values()))
            return self.reader.refuse(
                name_errors.MustChoose(self.entry.head, kind, self.entry.name, tuple(known), family)
            )
        return self._chosen(kind, self.reader.deref(series[0]), known)

    def _chosen(self, kind: str, item: ast.Expr, known: Mapping[str, Item | None]) -> Item | None:
        if not isinstance(item, ast.Name):
            return self._wrong(kind, item, known)
        return known[item.text] if item.text in known else known.get(self._meant(item.span, kind, item.text, known))

    def _wrong(self, key: str, expr: ast.Expr, words: Iterable[str] = ()) -> Item | None:
        return self.reader.refuse(wrong_value(expr, key, EXPERIMENT.keys[key].shape.wanted, words))

    # --- at the levels of the factors ------------------------------------------------------------------------------

    def _databases(
        self, database: DatabaseSpec, units: Sequence[HardwareUnit], levels: Sequence[Levels]
    ) -> dict[plan.DatabaseKey, plan.Database]:
        """Return the database on each hardware group at each level that the database uses."""
        self.uses[""] = self.world.databases.uses(database.name)
        found: dict[plan.DatabaseKey, plan.Database] = {}
        for own in dict.fromkeys(own_levels(self.uses[""], each, self.world.factors) for each in levels):
            spec = self.world.databases.at(database.name, own)
            reader = self.reader.at(bound_to(own.keys, self.world.factors)) if own else self.reader
            if spec is None:
                continue
            for unit in units:
                key = plan.DatabaseKey.of(database.name, unit.hardware.key, own)
                found[key] = database_on(spec, unit, self.world.hosts, reader)
        return found

    def _loads_at(
        self,
        loads: Sequence[ReadWorkload],
        database: DatabaseSpec,
        levels: Sequence[Levels],
        fitted: Callable[[ReadWorkload, DatabaseSpec], ReadWorkload],
    ) -> dict[str, ReadWorkload] | None:
        """Return the workloads at each level that they use, by their keys in a plan, or None after a mistake."""
        world, found = self.world, dict[str, ReadWorkload]()
        for load in loads:
            name, of = load.workload.name, load.of or load.workload.name
            used = {*world.workloads.uses(of), *(() if load.counted else world.databases.uses(database.name, "size"))}
            self.uses[name] = tuple(factor for factor in world.factors if factor in used)
            for each in (Levels(), *levels):
                key = workload_key(name, self.uses[name], each, world.factors)
                if key in found:
                    continue
                read, spec = world.workloads.at(of, each), world.databases.at(database.name, each)
                if read is None or spec is None:
                    return None
                alone = len(world.workloads) == 1
                found[key] = fitted(load_phase(read, world.language, alone=alone) if load.of else read, spec)
        return found

    def _check_cells(
        self,
        varied: Varied,
        databases: Mapping[plan.DatabaseKey, plan.Database],
        loads: Mapping[str, ReadWorkload],
        database: str,
    ) -> None:
        """Report factors whose levels make the same cells."""
        if not varied.levels or not databases:
            return
        factors, hardware = self.world.factors, next(iter(databases)).hardware
        for name, used in self.uses.items():
            for factor, keys in varied.levels.items() if name else ():
                seen: dict[object, Levels] = {}
                for levels in _most_alike(varied.combinations, factor):
                    key = plan.DatabaseKey.of(database, hardware, own_levels(self.uses[""], levels, factors))
                    load = loads[workload_key(name, used, levels, factors)]
                    content = repr((database_parts(databases[key]), workload_parts(load.workload)))
                    if seen.setdefault(content, levels) is levels:
                        continue
                    at, is_used = varied.places[factor], factor in {*used, *self.uses[""]}
                    found = (self.entry.name, factor, name, database, len(keys))
                    self.reader.report(factor_errors.SameCells(at, *found, used=is_used))
                    break

    # --- points, times and repeats ---------------------------------------------------------------------------------

    def _ramp(self) -> Ramps | None:
        threads = self._points("threads")
        if not self.values.said("target"):
            return Ramps("threads", threads, threads) if threads else None
        targets = self._points("target")
        if len(threads.points) > 1:
            return self.reader.refuse(experiment_errors.TwoRamps(self.values.span("threads"), threads.described))
        return Ramps("target", targets, threads) if threads and targets else None

    def _points(self, key: str) -> Ramp:
        series = self.values.series(key)
        return read_ramp(key, series[0], self.reader) if series else Ramp()

    # --- whether the parts fit -------------------------------------------------------------------------------------

    def _load_generator(self, database: DatabaseSpec) -> tuple[Mapping[str, plan.Client], plan.Tool | None]:
        """Return the clients by hardware key, and their tool. For a library engine, the tool is the one that its
        database names."""
        if database.tool is not None:
            if self.values.said("client"):
                at, label = self.values.span("client"), database.engine.label
                self.reader.report(equipment_errors.ClientNotWanted(at, database.name, label, database.tool.driver))
            return {}, database.tool
        items = self._items("client") if self.values.said("client") else ()
        known = self.world.clients
        several = [self._chosen("client", item, known) for item in items] if len(items) > 1 else []
        named = several or [self._one("client", known)]
        clients = [client for client in named if client is not None]
        if len(clients) < len(named):
            return {}, None
        engine, tool = database.engine, clients[0].tool
        if not can_load(engine, tool.driver):
            at = self.values.span("client")
            self.reader.report(equipment_errors.ToolMismatch(at, tool.driver, engine.name, engine.tools))
        return clients_by_hardware(clients, self.groups, self.values, self.reader), tool

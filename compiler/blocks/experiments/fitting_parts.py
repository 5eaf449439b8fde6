"""Whether the parts of an experiment fit: its tool, database, clients, workloads, and cells that end when steady."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchbrief.compiler.blocks.databases import database_errors
from benchbrief.compiler.blocks.databases.databases import DatabaseSpec
from benchbrief.compiler.blocks.experiments import arrival_errors, experiment_errors, schedule_errors
from benchbrief.compiler.blocks.experiments.arrivals import DeclaredArrivals
from benchbrief.compiler.blocks.experiments.measured_times import Times
from benchbrief.compiler.blocks.experiments.ramps import Ramps
from benchbrief.compiler.blocks.hardware.hardware import HardwareUnit
from benchbrief.compiler.blocks.values.block_values import Values
from benchbrief.compiler.blocks.values.values import Reader
from benchbrief.compiler.blocks.workloads.workloads import Load, with_records
from benchbrief.compiler.extensions import EngineSpec, ToolSpec
from benchbrief.compiler.extensions.registry import TOOL_SPECS, tools_from_due
from benchbrief.compiler.frontend import name_errors, value_errors
from benchbrief.compiler.frontend.declarations import Entry
from benchbrief.compiler.planning import plan
from benchbrief.dsl.diagnostics.plain_amounts import quantity_of_bytes
from benchbrief.dsl.source import Span


@dataclass(frozen=True)
class PartChecks:
    """An experiment's block with its values. `places` has the place of each hardware group and workload."""

    entry: Entry
    values: Values
    reader: Reader
    places: Mapping[tuple[str, str], Span]

    def check_shares(
        self, client: plan.Client | None, tool: ToolSpec, loads: tuple[Load, ...], ramps: Ramps | None
    ) -> None:
        """Whether the load can be split over the client's hosts."""
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
            findings.add(name_errors.PrintedPercentiles(span, tool.word, hosts))
        for load in loads:
            if load.from_one_host:
                span, name = self.places["workload", load.workload.name], load.workload.name
                findings.add(name_errors.InsertsFromOneHost(span, name, client.name, client.hosts[0], tool.label))

    def check_most(
        self, client: plan.Client | None, tool: ToolSpec, ramps: Ramps | None, said: DeclaredArrivals | None
    ) -> None:
        """Report more threads, or a higher rate, than the tool can have on each of the client's hosts."""
        hosts = len(client.hosts) if client else 1
        threads = (ramps.ramp if ramps.axis == "threads" else ramps.threads).points if ramps else ()
        targets = ramps.ramp.points if ramps and ramps.axis == "target" else ()
        rates = (*said.arrivals.rates, said.arrivals.burst_rate) if said else ()
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
        """Return the place of a load whose tool hides the time that operations wait for their turn, with the tools
        that do not."""
        if ramps.axis != "target" or tool.intended_latency or not tool.open_loop:
            return None
        span, others = self.values.span("target"), tools_from_due(engine)
        if ramps.ramp.search:
            self.reader.report(name_errors.ServiceKnee(span, tool.word, others))
        return span, tool.word, others

    def unmerged(self, tool: ToolSpec, client: plan.Client | None, repeats: int) -> tuple[Span, str] | None:
        """Return the place of repeats whose percentiles can't be merged. Several hosts are reported elsewhere."""
        if repeats < 2 or tool.mergeable or (client and len(client.hosts) > 1):
            return None
        return self.values.span("repeats"), tool.word

    def fitting(
        self, loads: tuple[Load, ...], database: DatabaseSpec, units: tuple[HardwareUnit, ...]
    ) -> tuple[Load, ...]:
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
                    database_errors.WorkloadMismatch(
                        span, name, family.name, database.name, what, engine.label, label, base, other
                    )
                )
        if not engine.in_process:
            return loads
        for unit in units:
            if unit.hardware.nodes > 1:
                place, key = self.places["hardware", unit.hardware.key], unit.hardware.key
                findings.add(database_errors.OneHostOnly(place, key, unit.hardware.nodes, engine.label))
        size = database.size
        if size is None:
            return loads
        return tuple(load if load.counted or not load.family.record else with_records(load, size) for load in loads)

    def check_blocks(self, loads: tuple[Load, ...], database: DatabaseSpec, ramps: Ramps | None) -> None:
        """Report blocks that do not fit into the database, one for each thread where threads have parts of it."""
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

    def check_loads(self, loads: tuple[Load, ...], phases: int, tool: ToolSpec, engine: EngineSpec) -> None:
        for load in loads:
            span, name = self.places["workload", load.workload.name], load.workload.name
            instead = load.family.name if load.family.name in {*engine.tools} - {tool.name} else ""
            for key, values in tool.lacks.items():
                if (value := load.workload.properties.get(key)) in values:
                    self.reader.report(arrival_errors.NotOfTool(span, tool.word, key, str(value), name, instead))
            if load.of and load.family.loads and not tool.loads:
                self.reader.report(arrival_errors.LoadingNotTimed(span, tool.word, name, instead))
            if load.ends and phases > 1:
                span = self.places["workload", load.workload.name]
                self.reader.report(experiment_errors.LoadInPhases(span, load.workload.name))

    def check_tool(self, tool: ToolSpec, database: DatabaseSpec, times: Times) -> None:
        """Report what the tool can't do: an offered load, phases, parts of a second."""
        findings = self.reader.findings
        others = [other for name in database.engine.tools if (other := TOOL_SPECS.usable(name))]
        if self.values.said("target") and not tool.open_loop:
            able = tuple(other.word for other in others if other.open_loop)
            findings.add(experiment_errors.ClosedLoopOnly(self.values.span("target"), tool.word, able))
        if times.phases > 1 and not tool.phases:
            instead = next((other.word for other in others if other.phases), "")
            findings.add(experiment_errors.NoPhases(self.values.span("phases"), tool.word, instead))
        if not tool.whole_seconds:
            return
        warm_up = self.values.constant("warm_up")
        said = [*([("warm_up", warm_up)] if warm_up else []), *times.said]
        for key, constant in said:
            if constant.value != int(constant.value):
                findings.add(value_errors.NotWholeSeconds(constant.span, key, constant.text, tool.label))


def _runs(database: DatabaseSpec, family: ToolSpec) -> bool:
    """Return whether a tool of the database runs the workloads of a family."""
    of = (database.tool.driver,) if database.tool else database.engine.tools
    tools = [TOOL_SPECS.usable(tool) for tool in of]
    named = any(tool is not None and tool.family == family.name for tool in tools)
    return named or database.engine.name in family.drives


def _workloads_of(tool: ToolSpec) -> tuple[str, ...]:
    family = TOOL_SPECS.usable(tool.family)
    return tuple(family.workloads) if family else ()


EVEN = ("constant", "poisson", "closed")
"""The arrivals whose rate can become steady."""


@dataclass(frozen=True)
class SteadyParts:
    """What an experiment has that may forbid its cells to end when they are steady."""

    tool: ToolSpec
    engine: EngineSpec
    client: plan.Client | None
    arrivals: DeclaredArrivals | None
    loads: Sequence[Load]


def check_steady(times: Times, entry: Entry, of: SteadyParts, reader: Reader) -> None:
    """Report a tool, a client or a load that `until_steady` has no place with."""
    if times.rule is None:
        return
    if not of.tool.ends_when_steady:
        others = (TOOL_SPECS.usable(name) for name in of.engine.tools)
        able = tuple(other.word for other in others if other and other.ends_when_steady)
        reader.report(schedule_errors.NotUntilSteady(times.rule, of.tool.word, able))
    elif of.client is not None and len(of.client.hosts) > 1:
        reader.report(schedule_errors.SteadyOfSeveral(times.rule, of.client.name, len(of.client.hosts)))
    for what, why in _never_steady(entry, of):
        reader.report(schedule_errors.NeverSteady(times.rule, entry.name, what, why))


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

"""The simulated world, which replaces the real one: see `runners/world/world_choice.py`."""

from __future__ import annotations

import json
import math
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Literal, Self

from pydantic import ValidationError

from benchbrief.compiler.planning.data_states import changes_of, tolerated, worse
from benchbrief.compiler.registry import ENGINE_SPECS, TOOL_SPECS
from benchbrief.model import histogram as h
from benchbrief.model.events import Simulated
from benchbrief.model.fingerprint import place_of
from benchbrief.model.measurement import (
    Bucket,
    Histogram,
    Interval,
    Measurement,
    Operation,
    PhaseThroughput,
    Sample,
    SteadyEnd,
)
from benchbrief.model.message import figure, said_from_data
from benchbrief.model.plan import Cell, Database, Hardware, Levels, Plan, Probe, UntilSteady, Workload
from benchbrief.model.run_messages import say
from benchbrief.model.steadiness import before_first, judge_batches, steadiness
from benchbrief.model.tool_spec import ToolSpec
from benchbrief.runners.driver_contexts import CellContext, Endpoint, loading_hosts
from benchbrief.runners.drivers.output_evidence import require_few_errors, timeout_s
from benchbrief.runners.errors import BadOutput, LoadShort, RunnerError
from benchbrief.runners.hosts import tool_discovery
from benchbrief.runners.hosts.host_clocks import ClockReading
from benchbrief.runners.jobs.tasks import Command, Job, JobFile, JobOutput
from benchbrief.runners.journal.run_identity import RunName
from benchbrief.runners.scheduling.measuring_ends import steady_end, unsteady_warnings
from benchbrief.runners.seams import (
    Driver,
    Engine,
    GoesOn,
    Hosts,
    Node,
    ProbeKind,
    Requirement,
    Size,
    Stopping,
    Transport,
)
from benchbrief.runners.world.load_model import (
    EDGES,
    REPORTED,
    TASK,
    Counts,
    Machine,
    Reported,
    ReportedOperation,
    ReportedSteady,
    Task,
    effect_of,
)
from benchbrief.runners.world.server_counters import Counters
from benchbrief.runners.world.simulated_hosts import (
    LOAD,
    SAMPLE,
    SAMPLER,
    SAMPLES,
    TASK_FILE,
    Sampler,
    SimulatedHosts,
    choose_failing,
    reading_of,
)
from benchbrief.runners.world.world_seams import Meter, OpenHosts, ReadsCounters

_READINGS = 20
_SPACE_LOADED, _SPACE_WRITTEN = 1.05, 1.2
"""Bytes of files for each byte of records, after the load and after writes. The numbers are invented, like the service
times."""
_COUNTED = {"read": ("query",), "scan": ("query",), "update": ("update",), "insert": ("insert",), "delete": ("delete",)}
_BOTH = ("query", "update")
"""The names in MongoDB's `opcounters` for an operation that both reads and updates. All operations that are not in
`_COUNTED` do both."""

_Values = dict[str, float]


class SimulatedEngine:
    name: ClassVar[str] = "simulated"

    def __init__(self, plan: Plan, database: Database, hardware: Hardware, hosts: SimulatedHosts) -> None:
        self._plan = plan
        self.keep: Path | None = None
        self.stopping: Stopping = GoesOn()
        self._database = database
        self._place = place_of(hardware, database, plan.hosts)
        self._hosts = hosts
        self._machine = hosts.machine(hardware.hosts[0])

    def start(self) -> Endpoint:
        return Endpoint(path=self._database.path)

    def look(self) -> None:
        """Do nothing, as there is no server."""

    def describe(self) -> dict[str, str]:
        return {"server": say.simulated_server(engine=self._database.engine), "version": say.simulated()}

    def build(self) -> str:
        return ""

    def holds(self, cell: Cell) -> bool:
        dataset = cell.dataset
        found, changes = self._hosts.datasets.get(self._place, ("", "nothing"))
        if dataset is None or not dataset.reuse or found != dataset.hash:
            return False
        return changes in tolerated(self._database.reset, self._database.engine)

    def can_undo(self, cell: Cell) -> bool:
        """Implement `seams.Undoes`."""
        return cell.dataset is not None and self._hosts.datasets.get(self._place) == (cell.dataset.hash, "inserts")

    def undo(self, cell: Cell) -> tuple[bool, str]:
        """Implement `seams.Undoes`."""
        records = cell.dataset.records if cell.dataset else 0
        self._hosts.datasets[self._place] = self._hosts.datasets[self._place][0], "updates"
        deleted = figure(self._machine.done_by(self.now).get("insert", 0.0), ",.0f")
        return True, say.undone(
            deleted=deleted, n=figure(records, ","), sent=say.sent_by_hosts(hosts=", ".join(loading_hosts(cell)))
        )

    def begin(self, cell: Cell) -> tuple[str, ...]:
        """Implement `seams.CountsWriters`."""
        found, changes = self._hosts.datasets.get(self._place, ("", "nothing"))
        if cell.dataset and found:
            self._hosts.datasets[self._place] = (
                found,
                worse(changes, changes_of(self._plan.workload_of(cell), cell.events)),
            )
        return ()

    def reset(self, cell: Cell) -> None:
        del cell
        self._hosts.datasets.pop(self._place, None)

    def loaded(self, cell: Cell, records: int) -> None:
        if cell.dataset is None:
            return
        if records < cell.dataset.records:
            raise LoadShort(say.simulated_short(n=records, asked=cell.dataset.records))
        self._hosts.datasets[self._place] = cell.dataset.hash, "nothing"

    @property
    def now(self) -> float:
        return self._machine.now

    def size(self, cell: Cell) -> Size:
        """Return the size after a load, plus a little if the cell has written. Implements `seams.TellsSize`."""
        workload = self._plan.workload_of(cell)
        spec = TOOL_SPECS.usable(workload.family)
        record = spec.record_bytes(workload.properties) if spec else 0.0
        records = cell.dataset.records if cell.dataset else float(workload.properties.get("records", 0))
        written = bool(self._machine.done_by(self.now)) and workload.writes
        space = _effect(self._plan, cell.database.levels, "disk")
        return Size(records * record * space * (_SPACE_WRITTEN if written else _SPACE_LOADED), records * record)

    def counters(self) -> _Values:
        return self.counters_at(self.now)

    def counters_at(self, time: float) -> _Values:
        """Return a server's counters since its start. A library has no counters."""
        if self._database.server == "none":
            return {}
        found: _Values = dict.fromkeys(("opcounters.query", "opcounters.update", "opcounters.insert"), 0.0)
        for operation, count in self._machine.done_by(time).items():
            for name in _COUNTED.get(operation, _BOTH):
                found[f"opcounters.{name}"] = found.get(f"opcounters.{name}", 0.0) + count
        return found

    def healthy(self) -> None:
        return None

    def stop(self) -> None:
        return None


class SimulatedReadings:
    """The counters before, during and after a simulated measurement, by the simulated clock. See
    `server_counters.CounterReadings`."""

    def __init__(self, engine: SimulatedEngine) -> None:
        self._engine = engine
        self._began_at = 0.0
        self.before: _Values = {}
        self.after: _Values = {}
        self.samples: tuple[tuple[float, _Values], ...] = ()
        self.problem = ""

    def __enter__(self) -> Self:
        self._began_at = self._engine.now
        self.before = self._engine.counters()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None or not self.before:
            return
        self.after = self._engine.counters()
        step = (self._engine.now - self._began_at) / _READINGS
        times = [self._began_at + i * step for i in range(_READINGS + 1)]
        self.samples = tuple((time, self._engine.counters_at(time)) for time in times)


_LONGEST_S = 24 * 3600.0


class SimulatedProbe:
    """The simulated version of the probe named `of`."""

    name: ClassVar[str] = "simulated"

    def __init__(self, of: str, seed: int = 0) -> None:
        self._of = of
        self._seed = seed

    def job(self, probe: Probe, node: Node) -> Job:
        machine, library = Machine.of(node.hardware), probe.on == "tool"
        sampler = Sampler(self._of, node.host.id, probe.every_s, machine, self._seed, library=library)
        file = JobFile(TASK_FILE, (SAMPLER.dump_json(sampler).decode(),))
        command = Command((SAMPLE, TASK_FILE))
        return Job(f"{self._of} probe", command, timeout_s=_LONGEST_S, files=(file,), background=True)

    def parse(self, probe: Probe, output: JobOutput, window: tuple[float, float]) -> tuple[Sample, ...]:
        del probe
        try:
            found = SAMPLES.validate_json(output.stdout.read_bytes())
        except (OSError, ValidationError) as error:
            raise BadOutput(say.not_simulated_probe(path=output.stdout), say.hint_simulate()) from error
        start, end = window
        inside = [start <= time <= end for time in found.times]
        times = [time - start for time in compress(found.times, inside)]
        samples: list[Sample] = []
        for measure, values in found.values.items():
            unit = reading_of(measure)[0]
            each = zip(times, compress(values, inside), strict=True)
            samples += [
                Sample(measure, output.host, "", time, value, unit) for time, value in each if value is not None
            ]
        return tuple(samples)


_LOAD_THREADS = 8
_PRINTED = (50.0, 90.0, 95.0, 99.0, 99.9, 99.99)
"""The percentiles that a tool without histograms prints."""

Fails = Callable[[CellContext], tuple[str, ...]]
"""A function that returns the hosts that must fail a cell's measurement."""


class SimulatedDriver:
    """The simulated version of the load generator named `of`."""

    name: ClassVar[str] = "simulated"

    def __init__(self, of: str, seed: int = 0, errors: float = 0.0, fails: Fails = lambda _: ()) -> None:
        self._of = of
        self._seed = seed
        self._errors = errors
        self._fails = fails

    def candidates(self, configured: str | None, tool_dirs: Sequence[str]) -> tuple[str, ...]:
        del configured, tool_dirs
        return (LOAD,)

    def requirements(self, path: str) -> tuple[Requirement, ...]:
        del path
        return ()

    def load(self, context: CellContext) -> Job | None:
        dataset = context.cell.dataset
        if dataset is None:
            return None
        task = Task(
            step="load",
            cell=context.cell.id,
            hash=dataset.hash,
            seed=self._seed,
            tool=self._of,
            nodes=context.hardware.hosts,
            machine=Machine.of(context.hardware),
            remote=context.database.server != "none",
            mix={"insert": 1.0},
            threads=_LOAD_THREADS,
            all_threads=_LOAD_THREADS,
            limit=max(1, len(context.loaded_range())),  # a tool without records fills a size
            generators=loading_hosts(context.cell),
        )
        return _job(context, task)

    def check_load(self, context: CellContext, output: JobOutput) -> int:
        del context
        return _reported(output).count

    def warm_up(self, context: CellContext) -> Job | None:
        del context  # it is the first part of the measured job, as with YCSB
        return None

    def measure(self, context: CellContext) -> Job:
        cell, load = context.cell, context.workload.phase == "load"
        mix, beside = _mix(context.workload)
        rule = context.experiment.until_steady
        task = Task(
            step="measure",
            cell=cell.id,
            hash=cell.hash,
            seed=self._seed,
            tool=self._of,
            intended=_spec(self._of).intended_latency,
            nodes=context.hardware.hosts,
            machine=Machine.of(context.hardware),
            remote=context.database.server != "none",
            mix=mix,
            threads=context.threads,
            all_threads=cell.threads or context.threads,
            warm_up_s=0.0 if load else cell.warm_up_s,
            measure_s=cell.measure_s,
            phases=1 if load else cell.phases,
            target=context.target,
            all_target=cell.target,
            limit=_limit(context),
            beside=beside,
            errors=self._errors,
            failing=self._fails(context),
            events_at=tuple(event.at_s for event in cell.events),
            steady_within=rule.within if rule else 0.0,
            steady_from_s=rule.from_s if rule else 0.0,
            generators=cell.load_hosts,
            speed=_effect(context.plan, _levels_at(context.plan, cell), "pace"),
        )
        return _job(context, task)

    def parse(self, context: CellContext, output: JobOutput) -> Measurement:
        record = _reported(output)
        window = (record.began_at, record.began_at + record.seconds)
        phases = list(enumerate(record.phases, start=1))
        errors = sum(phase.errors for phase in record.phases)
        allowed, why = context.experiment.max_error_share, say.errors_simulated()
        require_few_errors(output, "the simulated load", errors, record.count, allowed, why)
        if record.count <= 0:
            raise BadOutput(say.simulated_no_operations(), say.hint_longer())
        operations = [_operation(op, None) for _, phase in phases for op in phase.operations]
        if len(phases) > 1:
            operations = _together(operations)
            operations += [_operation(op, number) for number, phase in phases for op in phase.operations]
        total = PhaseThroughput(None, record.count, errors, record.seconds, record.count / record.seconds)
        several = [
            PhaseThroughput(number, phase.count, phase.errors, phase.seconds, phase.count / phase.seconds)
            for number, phase in phases
        ]
        if not _spec(self._of).mergeable:
            operations = [_without_histogram(operation) for operation in operations]
        intervals = tuple(_intervals(record))
        steady = steadiness(before_first(context.cell.events, intervals))
        rule = context.experiment.until_steady
        ended = _ended(record.steady, rule) if record.steady and rule else None
        intended = any(operation.kind == "intended" for operation in operations)
        properties = {
            "simulated": say.simulated_model(),
            "latency": say.latency_both() if intended else say.latency_service(),
            "loop": say.loop_open() if context.cell.target else say.loop_closed(),
        }
        return Measurement(
            window=window,
            throughput=(total, *several) if len(phases) > 1 else (total,),
            operations=tuple(operations),
            intervals=intervals,
            warnings=(
                *(unsteady_warnings(ended, rule) if ended and rule else ()),
                *(steady.warnings if steady else ()),
            ),
            steady=ended,
            samples=_samples(_spec(self._of), record.seconds, offered=context.cell.target is not None),
            tool_version=say.simulated(),
            properties=tuple({**properties, **(steady.properties if steady else {})}.items()),
        )


def _levels_at(plan: Plan, cell: Cell) -> Levels:
    """Return a cell's levels, including the defaults of factors that its experiment does not vary."""
    others = (Levels(key.partition("?")[2]) for key in plan.workloads if key.partition("?")[0] == cell.workload)
    own = {factor: plan.factors[factor].default for levels in others for factor in levels.keys}
    return Levels.of({**own, **cell.database.levels.keys, **cell.levels.keys})


def _effect(plan: Plan, levels: Levels, on: Literal["pace", "disk"]) -> float:
    return math.prod(effect_of(plan.factors[factor], key, on) for factor, key in levels.keys.items())


def _ended(record: ReportedSteady, rule: UntilSteady) -> SteadyEnd:
    return steady_end(judge_batches(record.completed, record.latency_ns), rule.within, record.lasted_s)


def _job(context: CellContext, task: Task) -> Job:
    engine = ENGINE_SPECS.usable(context.database.engine)
    if engine is not None:
        task = replace(task, service_s=engine.simulated_s, in_memory=engine.in_memory)
    file = JobFile(TASK_FILE, (TASK.dump_json(task).decode(),))
    return Job(task.step, Command((LOAD, TASK_FILE)), timeout_s(context.cell, task.step), files=(file,))


def _spec(tool: str) -> ToolSpec:
    """Return the tool's spec. Raises RunnerError if the tool can't be used here."""
    found = TOOL_SPECS.usable(tool)
    if found is None:
        hint = "`bench extensions` says what is installed, and what is broken"
        raise RunnerError(f"the tool `{tool}` can't be used here", hint)
    return found


def _samples(spec: ToolSpec, seconds: float, *, offered: bool) -> tuple[Sample, ...]:
    """Return the tool's own measures, with the `simulated` values from its spec. They are the same on all hosts at all
    times."""
    return tuple(
        Sample(name, "", "", seconds, said.simulated, said.unit, seconds)
        for name, said in spec.measures.items()
        if said.simulated is not None and (offered or not said.offered_only)
    )


def _mix(workload: Workload) -> tuple[dict[str, float], str | None]:
    """Return the shares of the operations by name, and the operation of an additional thread, or None if there is no
    such thread."""
    if workload.phase == "load":
        return {"insert": 1.0}, None
    given, shares = workload.properties, _spec(workload.family).shares
    if shares:
        return {name: share for name in shares if (share := float(given.get(name, 0.0))) > 0}, None
    first, *others = workload.operations
    if not others:
        return {first: 1.0}, None
    if first not in given:  # a thread of its own does the second
        return {first: 1.0}, others[0]
    share = float(given[first])
    return {first: share, others[0]: 1.0 - share}, None


def _limit(context: CellContext) -> int | None:
    """Return how many operations this load generator does, or None if there is no limit."""
    workload = context.workload
    records = int(float(workload.properties.get("records", 0)))
    if workload.phase == "load":
        return max(1, len(context.range_of(records)))
    if not _spec(workload.family).workloads[workload.benchmark].timed:
        return records
    operations = workload.properties.get("operations")
    return max(1, len(context.range_of(int(float(operations))))) if operations is not None else None


def _reported(output: JobOutput) -> Reported:
    """Read the report. Raises BadOutput if the simulated load generator failed, or if its output can't be read."""
    if output.exit_code != 0:
        said = output.stderr.read_text(encoding="utf-8")
        raise BadOutput(said_from_data(json.loads(said)) if said else say.simulated_stopped())
    return _read(output.stdout)


def _read(path: Path) -> Reported:
    try:
        return REPORTED.validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise BadOutput(say.not_simulated_load(path=path), say.hint_simulate()) from error


def _operation(op: ReportedOperation, phase: int | None) -> Operation:
    return Operation(
        operation=op.operation,
        count=op.count,
        errors=op.errors,
        mean_s=op.mean_s,
        min_s=op.min_s,
        max_s=op.max_s,
        histogram=_histogram(op.buckets) if op.buckets else None,
        kind=op.kind,
        phase=phase,
        in_total=op.in_total,
    )


def _histogram(counts: Counts) -> Histogram:
    return Histogram(tuple([Bucket(EDGES[number], EDGES[number + 1], count) for number, count in counts]))


def _together(operations: Sequence[Operation]) -> list[Operation]:
    """Merge the entries for the same operation in all phases."""
    found: dict[tuple[str, str], list[Operation]] = {}
    for operation in operations:
        found.setdefault((operation.operation, operation.kind), []).append(operation)
    return [_merged(parts) for parts in found.values()]


def _merged(parts: Sequence[Operation]) -> Operation:
    count = sum(part.count for part in parts)
    histograms = [part.histogram for part in parts if part.histogram]
    lows = [part.min_s for part in parts if part.min_s is not None]
    highs = [part.max_s for part in parts if part.max_s is not None]
    return Operation(
        operation=parts[0].operation,
        count=count,
        errors=sum(part.errors for part in parts),
        mean_s=sum((part.mean_s or 0.0) * part.count for part in parts) / count if count else None,
        min_s=min(lows, default=None),
        max_s=max(highs, default=None),
        histogram=h.merge(histograms) if histograms else None,
        kind=parts[0].kind,
        in_total=parts[0].in_total,
    )


def _without_histogram(operation: Operation) -> Operation:
    """Return latencies as a tool without histograms prints them: only percentiles, which can't be merged."""
    if operation.histogram is None:
        return operation
    printed = tuple((percent, h.percentile(operation.histogram, percent)) for percent in _PRINTED)
    return Operation(
        operation.operation,
        operation.count,
        operation.errors,
        operation.mean_s,
        operation.min_s,
        operation.max_s,
        None,
        printed,
        operation.kind,
        operation.phase,
        operation.in_total,
    )


def _intervals(record: Reported) -> list[Interval]:
    found, start = [], 0.0
    for seconds, count in record.intervals:
        found.append(Interval(start, seconds, count))
        start += seconds
    return found


_AT_ONCE = 1
"""How many lanes work at the same time. Simulated lanes only compute, so more of them would just compete for the
processor."""


class SimulatedWorld:
    """The simulated world. `again` is how often the run was started before, so that a random failure need not recur."""

    def __init__(self, simulated: Simulated, again: int = 0) -> None:
        self.simulated = simulated
        self.at_once = _AT_ONCE
        self._again = again
        self._tried: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def refuse(self, plan: Plan) -> None:
        del plan  # any plan can be simulated

    def hosts(self, plan: Plan, run_name: RunName) -> OpenHosts:
        del run_name  # nothing is left anywhere
        return SimulatedHosts(plan)

    def silent_meters(self, plan: Plan, cells: Sequence[Cell], hosts: Hosts) -> dict[Meter, RunnerError]:
        del plan, cells, hosts
        return {}

    def facts(self, transport: Transport, paths: Sequence[str]) -> dict[str, str]:
        del transport, paths
        return {"os": say.simulated_host()}

    def other_load(self, transport: Transport) -> str:
        del transport
        return ""

    def driver(self, name: str) -> Driver:
        return SimulatedDriver(name, self.simulated.seed, self.simulated.errors, self._fails)

    def tool(self, transport: Transport, driver: Driver, configured: str | None) -> tool_discovery.FoundTool:
        del transport, driver, configured
        return tool_discovery.FoundTool(LOAD, say.simulated())

    def digest(self, transport: Transport, path: str) -> str:
        del transport, path
        return ""

    def engine(self, plan: Plan, database: Database, hardware: Hardware, hosts: Hosts) -> Engine:
        if not isinstance(hosts, SimulatedHosts):
            raise RunnerError("a simulated database needs simulated hosts")
        return SimulatedEngine(plan, database, hardware, hosts)

    def probe_kind(self, name: str) -> ProbeKind:
        return SimulatedProbe(name, self.simulated.seed)

    def readings(self, engine: Engine, seconds: float, keep: Callable[[float, Counters], None]) -> ReadsCounters:
        del seconds, keep
        if not isinstance(engine, SimulatedEngine):
            raise RunnerError("only a simulated database has simulated counters")
        return SimulatedReadings(engine)

    def clock(self, transport: Transport) -> ClockReading | None:
        del transport
        return None

    def pause(self, seconds: float, ending: Stopping) -> bool:
        del seconds  # simulated time costs no real time
        return ending.is_set()

    def _fails(self, context: CellContext) -> tuple[str, ...]:
        """Return the hosts that fail at random, so that this load generator fails, too. Its own host may fail and, for
        the cell's first load generator, also the hosts under test."""
        cell = context.cell
        first = cell.load_hosts[0]
        own = context.load_host or first
        hosts = dict.fromkeys((own, *(context.hardware.hosts if own == first else ())))
        with self._lock:
            self._tried[cell.id, own] += 1
            again = self._again * 1000 + self._tried[cell.id, own]
        return choose_failing(self.simulated.failing, tuple(hosts), self.simulated.seed, cell.id, again)

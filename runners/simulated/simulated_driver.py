"""The driver of the simulated load generator, which replaces any real one: see `seams.Driver`."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import ValidationError

from benchbrief.compiler.extensions import ToolSpec
from benchbrief.compiler.extensions.registry import TOOL_SPECS
from benchbrief.compiler.messages.text import said_from_data
from benchbrief.compiler.planning.plan import UntilSteady, Workload
from benchbrief.runners.drivers.output_evidence import require_few_errors, timeout_s
from benchbrief.runners.errors import BadOutput, RunnerError
from benchbrief.runners.execution.driver_contexts import CellContext, loading_hosts
from benchbrief.runners.jobs.tasks import Command, File, Job, JobOutput
from benchbrief.runners.measurement import histogram as h
from benchbrief.runners.measurement.measurement import (
    Bucket,
    Histogram,
    Interval,
    Measurement,
    Operation,
    PhaseThroughput,
    Sample,
    SteadyEnd,
)
from benchbrief.runners.measurement.steadiness import before_first, steadiness
from benchbrief.runners.measurement.steady_ends import judge_batches
from benchbrief.runners.measurement.steady_verdicts import steady_end, warnings_of
from benchbrief.runners.messages.run_messages import say
from benchbrief.runners.seams import Requirement
from benchbrief.runners.simulated.latency_distribution import EDGES, Counts
from benchbrief.runners.simulated.load_model import REPORTED, TASK, Reported, ReportedOperation, ReportedSteady, Task
from benchbrief.runners.simulated.queueing_model import Machine
from benchbrief.runners.simulated.simulated_hosts import LOAD, TASK_FILE

_LOAD_THREADS = 8
_PRINTED = (50.0, 90.0, 95.0, 99.0, 99.9, 99.99)
"""The percentiles that a tool without histograms prints."""

Fails = Callable[[CellContext], tuple[str, ...]]
"""Returns the hosts that must fail a cell's measurement."""


class SimulatedDriver:
    """Replaces the load generator called `of`."""

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
        )
        return _job(context, task)

    def parse(self, context: CellContext, output: JobOutput) -> Measurement:
        record = _reported(output)
        window = (record.began_at, record.began_at + record.seconds)
        phases = list(enumerate(record.phases, start=1))
        errors = sum(phase.errors for phase in record.phases)
        require_few_errors(output, "the simulated load", errors, record.count, context.experiment.max_error_share)
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
                *(warnings_of(ended, rule) if ended and rule else ()),
                *(steady.warnings if steady else ()),
            ),
            steady=ended,
            samples=_samples(_spec(self._of), record.seconds, offered=context.cell.target is not None),
            tool_version=say.simulated(),
            properties=tuple({**properties, **(steady.properties if steady else {})}.items()),
        )


def _ended(record: ReportedSteady, rule: UntilSteady) -> SteadyEnd:
    return steady_end(judge_batches(record.completed, record.latency_ns), rule.within, record.lasted_s)


def _job(context: CellContext, task: Task) -> Job:
    file = File(TASK_FILE, (TASK.dump_json(task).decode(),))
    return Job(task.step, Command((LOAD, TASK_FILE)), timeout_s(context.cell, task.step), files=(file,))


def _spec(tool: str) -> ToolSpec:
    """Return what the tool says of itself. Raises RunnerError when it is not installed here."""
    found = TOOL_SPECS.usable(tool)
    if found is None:
        hint = "`bench extensions` says what is installed, and what is broken"
        raise RunnerError(f"the tool `{tool}` can't be used here", hint)
    return found


def _samples(spec: ToolSpec, seconds: float, *, offered: bool) -> tuple[Sample, ...]:
    """Return the tool's own measures, by the `simulated` values of its spec: the same for all hosts, all the time."""
    return tuple(
        Sample(name, "", "", seconds, said.simulated, said.unit, seconds)
        for name, said in spec.measures.items()
        if said.simulated is not None and (offered or not said.offered_only)
    )


def _mix(workload: Workload) -> tuple[dict[str, float], str | None]:
    """Return the shares of the operations, and the operation of one more thread."""
    if workload.phase == "load":
        return {"insert": 1.0}, None
    given, shares = workload.properties, _spec(workload.family).shares
    if shares:
        return {name: share for name in shares if (share := float(given.get(name, 0.0))) > 0}, None
    first, *others = workload.operations
    if not others:
        return {first: 1.0}, None
    if first not in given:  # one more thread does the second
        return {first: 1.0}, others[0]
    share = float(given[first])
    return {first: share, others[0]: 1.0 - share}, None


def _limit(context: CellContext) -> int | None:
    """Return the number of this load generator's operations."""
    workload = context.workload
    records = int(float(workload.properties.get("records", 0)))
    if workload.phase == "load":
        return max(1, len(context.range_of(records)))
    if not _spec(workload.family).workloads[workload.benchmark].timed:
        return records
    operations = workload.properties.get("operations")
    return max(1, len(context.range_of(int(float(operations))))) if operations is not None else None


def _reported(output: JobOutput) -> Reported:
    """Read the report. Raises BadOutput when the simulated load generator failed, or its output can't be read."""
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
    """Merge the same operations of all phases."""
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

"""Parses the measurement of one cell again, from the raw outputs of all its load generators."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from benchbrief.compiler.registry import accepted_errors
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.events import MEASURE, SAMPLES
from benchbrief.model.measurement import Measurement, Sample, Together
from benchbrief.model.message import figure, share_figure
from benchbrief.model.plan import Probe
from benchbrief.results.imports.imported_files import OutputProblem
from benchbrief.results.imports.importer_seams import BadLog, read_output, read_samples
from benchbrief.results.imports.keep_import import read_manifest
from benchbrief.results.ingest.run_evidence import CellVerdict, Evidence, Problem, first_problem
from benchbrief.results.result_messages import say
from benchbrief.results.store.store_schema import ThroughputRow
from benchbrief.results.store_errors import ResultsError
from benchbrief.runners.driver_contexts import CellContext, Endpoint
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.hosts import host_clocks
from benchbrief.runners.hosts.host_clocks import ClockSet
from benchbrief.runners.hosts.host_connections import CONTROLLER
from benchbrief.runners.jobs.tasks import JobOutput
from benchbrief.runners.seams import Driver, ProbeKind, TellsDatabase, TellsGaps
from benchbrief.runners.world.world_seams import World

_SAME_S = 0.001
"""The smallest drift of a clock during a measurement, in seconds, that requires an adjustment of the samples' times."""


@cache
def _driver(world: World, name: str) -> Driver:
    return world.driver(name)


@cache
def _probe_kind(world: World, name: str) -> ProbeKind:
    return world.probe_kind(name)


@dataclass(frozen=True)
class CellMeasurement:
    """The measurement of a cell. `sources` has the measurement of each host that generates load.

    The window is in the time of the controller's clock. If `sources` is empty, `problem` says why.
    """

    sources: dict[str, Measurement]
    problem: Problem | None = None

    load: bool = False
    """Whether the load phase was measured (see `Together`)."""

    @property
    def together(self) -> Together:
        return Together(tuple(self.sources.values()), self.load)

    @property
    def window(self) -> tuple[float, float]:
        return self.together.window


def parse_cell(evidence: Evidence, verdict: CellVerdict, problems: dict[str, Problem | None]) -> CellMeasurement:
    """Parse the measured jobs of a good cell. `problems` maps raw files to their problems."""
    jobs = [job for job in verdict.jobs if job.job == MEASURE]
    if not jobs:
        return CellMeasurement({}, "the journal names no measured output")
    sources = {}
    for job in jobs:
        problem = first_problem(problems.get(f"{job.directory}/{name}") for name in job.files)
        if problem:
            return CellMeasurement({}, problem)
        try:
            sources[job.host] = _parse(evidence, verdict, job)
        except ClockSet as error:
            return CellMeasurement({}, str(error))
        except RunnerError as error:
            return CellMeasurement({}, say.output_unreadable(host=job.host, said=error))
    return CellMeasurement(sources, load=evidence.plan.workload_of(verdict.cell).phase == "load")


def _parse(evidence: Evidence, verdict: CellVerdict, job: j.JobCollected) -> Measurement:
    if evidence.imported:
        return _imported(evidence, verdict, job)
    driver, context = _driver(evidence.world, verdict.cell.tool.driver), context_of(evidence, verdict, job)
    return host_clocks.read_output(driver, context, JobOutput.of(job, evidence.run_dir), verdict.offset(job.host))


def _imported(evidence: Evidence, verdict: CellVerdict, job: j.JobCollected) -> Measurement:
    """Read the kept files of a cell that a tool measured elsewhere. Raises ResultsError."""
    directory = evidence.run_dir / job.directory
    manifest = read_manifest(directory, evidence.made_by)
    files = {name: directory / name for name in manifest.names}
    try:
        benchmark = evidence.plan.workload_of(verdict.cell).benchmark
        measurement = read_output(manifest.kind, files, benchmark, manifest.options)
    except OutputProblem as error:
        raise ResultsError(f"{error.name}: {error}", error.hint) from error
    if manifest.remark:
        measurement = replace(measurement, warnings=(*measurement.warnings, manifest.remark))
    total, declared = measurement.total, evidence.plan.experiments[verdict.cell.experiment].max_error_share
    allowed = accepted_errors(declared, verdict.cell.tool.driver)
    share = total.errors / max(1, total.errors + total.count)
    if share <= allowed:
        return measurement
    text = say.more_errors(
        errors=figure(total.errors, ","),
        n=figure(total.errors + total.count, ","),
        share=share_figure(share, 2),
        allowed=share_figure(allowed, 2),
    )
    return replace(measurement, warnings=(*measurement.warnings, text))


def _imported_samples(
    evidence: Evidence, probe: Probe, job: j.JobCollected, window: tuple[float, float]
) -> tuple[Sample, ...]:
    directory = evidence.run_dir / job.directory
    kind, device = read_manifest(directory, evidence.made_by).kind, str(probe.options.get("device", ""))
    try:
        return read_samples(kind, directory / SAMPLES, job.host, window, device)
    except BadLog as error:
        raise ResultsError(str(error)) from error


def context_of(evidence: Evidence, verdict: CellVerdict, job: j.JobCollected) -> CellContext:
    """Return the context that the driver of a measured job had, without secrets."""
    cell = verdict.cell
    tool = evidence.record.tools.get((job.host, cell.tool.driver))
    # Nothing runs here, so the endpoint's secrets are neither known nor needed.
    endpoint = Endpoint(path=evidence.plan.databases[cell.database].path)
    return CellContext(evidence.plan, cell, tool.path if tool else "", endpoint, job.host)


def parse_probe(
    evidence: Evidence, verdict: CellVerdict, job: j.JobCollected, name: str, window: tuple[float, float]
) -> tuple[Sample, ...]:
    """Return one probe's samples on one host within a window, which is given in the time of the controller's clock.

    `job` is the probe's own job, or the measured job if the load generator reports the probe's measures. Raises
    RunnerError if the plan has no such probe, or if its output can't be read.
    """
    probe = next((p for p in verdict.cell.probes if p.name == name and job.host in p.hosts), None)
    if probe is None:
        raise RunnerError(f"the plan has no probe {name} on {job.host} for this cell")
    there = _there(verdict, probe, job, window)
    if evidence.imported:
        return _imported_samples(evidence, probe, job, there)
    if job.job == MEASURE:
        driver = _driver(evidence.world, verdict.cell.tool.driver)
        if not isinstance(driver, TellsDatabase):
            raise RunnerError(f"{driver.name} does not say what its database counts")
        return driver.database_samples(context_of(evidence, verdict, job), JobOutput.of(job, evidence.run_dir), there)
    samples = _probe_kind(evidence.world, name).parse(probe, JobOutput.of(job, evidence.run_dir), there)
    return _in_our_time(samples, there[1] - there[0], window[1] - window[0])


def _in_our_time(samples: tuple[Sample, ...], theirs: float, ours: float) -> tuple[Sample, ...]:
    """Scale the times of samples to the controller's clock.

    The window lasted `theirs` seconds by the host's clock, and `ours` seconds by the controller's.
    """
    if abs(theirs - ours) < _SAME_S or theirs <= 0:
        return samples
    return tuple(sample._replace(time=sample.time * ours / theirs) for sample in samples)


def probe_gaps(
    evidence: Evidence, verdict: CellVerdict, job: j.JobCollected, name: str, window: tuple[float, float]
) -> str:
    """Describe which of a probe's readings failed while others succeeded. Returns "" if none failed, or if this kind of
    probe can't tell."""
    kind = _probe_kind(evidence.world, name)
    probe = next((p for p in verdict.cell.probes if p.name == name), None)
    if probe is None or evidence.imported or not isinstance(kind, TellsGaps):
        return ""
    return kind.gaps(probe, JobOutput.of(job, evidence.run_dir), _there(verdict, probe, job, window))


def _there(verdict: CellVerdict, probe: Probe, job: j.JobCollected, window: tuple[float, float]) -> tuple[float, float]:
    """Return the window by the clock of the machine that took the samples: the job's host, or the controller."""
    offset = verdict.offset(CONTROLLER.id if probe.on == "controller" else job.host).of_job(job.booted)
    return offset.there(window[0]), offset.there(window[1])


def throughput_rows(run_id: str, verdict: CellVerdict, measured: CellMeasurement) -> list[ThroughputRow]:
    """Return the throughput over all load generators: in total and by operation, for each phase and for the whole
    window.

    `Together` explains how rates are added. If nothing was measured, returns one row without a value.
    """
    cell_id = verdict.cell.id
    if not measured.sources:
        reason = measured.problem or verdict.reason
        return [ThroughputRow(run_id, cell_id, None, "all", None, None, None, None, reason)]
    rows = []
    together = measured.together
    for phase in dict.fromkeys(t.phase for m in measured.sources.values() for t in m.throughput):
        total = together.throughput(phase)
        if total is None:
            reason = say.phase_missing()
            rows.append(ThroughputRow(run_id, cell_id, phase, "all", None, None, None, None, reason))
            continue
        if not total.seconds:
            rows.append(ThroughputRow(run_id, cell_id, phase, "all", total.ops_per_s, None, None, None, None))
            continue
        values = (total.ops_per_s, total.count, total.errors, total.seconds)
        rows.append(ThroughputRow(run_id, cell_id, phase, "all", *values, None))
        rows += _operations(run_id, cell_id, phase, total.seconds, together)
    return rows


def _operations(
    run_id: str, cell_id: str, phase: int | None, seconds: float, together: Together
) -> list[ThroughputRow]:
    """Return the rates of single operations. An operation with both service and intended latencies counts once."""
    counts: dict[str, list[int]] = {}
    errors: dict[str, int] = {}
    for place, measurement in enumerate(together.each):
        seen = {}
        for op in measurement.operations:
            if op.phase == phase and (op.kind == "service" or op.operation not in seen):
                seen[op.operation] = op
        for name, op in seen.items():
            counts.setdefault(name, [0] * len(together.each))[place] = op.count
            errors[name] = errors.get(name, 0) + op.errors
    return [
        ThroughputRow(run_id, cell_id, phase, name, together.rate(of, phase), sum(of), errors[name], seconds, None)
        for name, of in counts.items()
    ]

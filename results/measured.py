"""The measurement of one cell, parsed again from the raw outputs of all its load generators."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchbrief.results.evidence import Evidence, Problem, Verdict, first_problem
from benchbrief.results.schema import ThroughputRow
from benchbrief.runners import journal as j
from benchbrief.runners import plugins
from benchbrief.runners.measurement import Measurement, PhaseThroughput, Sample
from benchbrief.runners.seams import CellContext, Endpoint, JobOutput, RunnerError, TellsGaps

MEASURE = "measure"
PROBE = "probe:"
_SAME_WINDOW = 0.95
"""The share of the time in which all load generators must have been active for their rates to be added silently."""

_driver = cache(plugins.driver)
_probe_kind = cache(plugins.probe_kind)


@dataclass(frozen=True)
class Measured:
    """`sources` maps each load-generating host to what it measured; empty when `problem` says why there is nothing."""

    sources: dict[str, Measurement]
    problem: Problem | None = None

    @property
    def window(self) -> tuple[float, float]:
        """When all load generators were active; from the first to the last where they were never so together."""
        starts = [m.window[0] for m in self.sources.values()]
        ends = [m.window[1] for m in self.sources.values()]
        return (max(starts), min(ends)) if max(starts) < min(ends) else (min(starts), max(ends))

    @property
    def overlap(self) -> float:
        """The share of the time from the first start to the last end in which all load generators were active."""
        starts = [m.window[0] for m in self.sources.values()]
        ends = [m.window[1] for m in self.sources.values()]
        whole = max(ends) - min(starts)
        return max(0.0, min(ends) - max(starts)) / whole if whole > 0 else 1.0

    @property
    def apart(self) -> bool:
        """Whether the load generators' rates were not reached at the same time, and their sum says too much."""
        return len(self.sources) > 1 and self.overlap < _SAME_WINDOW


def parse_cell(evidence: Evidence, verdict: Verdict, problems: dict[str, Problem | None]) -> Measured:
    """Parse the measured jobs of a good cell. `problems` says for each raw file what is wrong with it."""
    jobs = [job for job in verdict.jobs if job.job == MEASURE]
    if not jobs:
        return Measured({}, "the journal names no measured output")
    sources = {}
    for job in jobs:
        problem = first_problem(problems.get(f"{job.directory}/{name}") for name in job.files)
        if problem:
            return Measured({}, problem)
        try:
            sources[job.host] = _parse(evidence, verdict, job)
        except RunnerError as error:
            return Measured({}, f"the output of {job.host} can't be read any more: {error}")
    return Measured(sources)


def _parse(evidence: Evidence, verdict: Verdict, job: j.JobCollected) -> Measurement:
    cell = verdict.cell
    driver = _driver(cell.tool.driver)
    tool = evidence.tools.get((job.host, cell.tool.driver))
    # Nothing is run here, so the endpoint's secrets are neither known nor needed.
    endpoint = Endpoint(path=evidence.plan.databases[cell.database].path)
    context = CellContext(evidence.plan, cell, tool.path if tool else "", endpoint, job.host)
    return driver.parse(context, output_of(evidence.run_dir, job))


def output_of(run_dir: Path, job: j.JobCollected) -> JobOutput:
    return JobOutput(run_dir / job.directory, job.exit_code, job.started_at, job.ended_at, job.host)


def parse_probe(
    evidence: Evidence, verdict: Verdict, job: j.JobCollected, window: tuple[float, float]
) -> tuple[Sample, ...]:
    """The samples of one probe on one host inside the window. Raises RunnerError when its output is not good."""
    _, name, _ = job.job.split(":", 2)
    probe = next((p for p in verdict.cell.probes if p.name == name and job.host in p.hosts), None)
    if probe is None:
        raise RunnerError(f"the plan has no probe {name} on {job.host} for this cell")
    return _probe_kind(name).parse(probe, output_of(evidence.run_dir, job), window)


def probe_gaps(evidence: Evidence, verdict: Verdict, job: j.JobCollected, window: tuple[float, float]) -> str:
    """Which of a probe's readings failed although it gave samples; "" when none did, or when its kind has no such."""
    _, name, _ = job.job.split(":", 2)
    kind = _probe_kind(name)
    probe = next((p for p in verdict.cell.probes if p.name == name), None)
    if probe is None or not isinstance(kind, TellsGaps):
        return ""
    return kind.gaps(probe, output_of(evidence.run_dir, job), window)


def throughput_rows(run_id: str, verdict: Verdict, measured: Measured) -> list[ThroughputRow]:
    """The total and each operation, for each phase and the whole window, over all load generators.

    Rates are added: each generator's count over its own time. One row without a value when nothing was measured.
    """
    cell_id = verdict.cell.id
    if not measured.sources:
        reason = measured.problem or verdict.reason
        return [ThroughputRow(run_id, cell_id, None, "all", None, None, None, None, reason)]
    rows = []
    for phase in dict.fromkeys(t.phase for m in measured.sources.values() for t in m.throughput):
        totals = [_phase(m, phase) for m in measured.sources.values()]
        known = [t for t in totals if t is not None]
        if len(known) < len(totals):
            reason = "not every load generator has this phase"
            rows.append(ThroughputRow(run_id, cell_id, phase, "all", None, None, None, None, reason))
            continue
        seconds = max(t.seconds for t in known)
        rows.append(
            ThroughputRow(
                run_id,
                cell_id,
                phase,
                "all",
                sum(t.ops_per_s for t in known),
                sum(t.count for t in known),
                sum(t.errors for t in known),
                seconds,
                None,
            )
        )
        rows += _operations(run_id, cell_id, phase, seconds, measured, known)
    return rows


def _phase(measurement: Measurement, phase: int | None) -> PhaseThroughput | None:
    return next((t for t in measurement.throughput if t.phase == phase), None)


def _operations(
    run_id: str,
    cell_id: str,
    phase: int | None,
    seconds: float,
    measured: Measured,
    totals: list[PhaseThroughput],
) -> list[ThroughputRow]:
    """Rates of single operations. Those counted by intended start are the same operations as those by service time."""
    rates: dict[str, float] = {}
    counts: dict[str, int] = {}
    errors: dict[str, int] = {}
    for measurement, total in zip(measured.sources.values(), totals, strict=True):
        seen = {}
        for op in measurement.operations:
            if op.phase == phase and (op.kind == "service" or op.operation not in seen):
                seen[op.operation] = op
        for name, op in seen.items():
            rates[name] = rates.get(name, 0.0) + (op.count / total.seconds if total.seconds > 0 else 0.0)
            counts[name] = counts.get(name, 0) + op.count
            errors[name] = errors.get(name, 0) + op.errors
    return [
        ThroughputRow(run_id, cell_id, phase, name, rates[name], counts[name], errors[name], seconds, None)
        for name in rates
    ]

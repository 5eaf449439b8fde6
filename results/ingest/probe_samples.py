"""A cell's probe samples, their coverage of the measured window, and the energy.

Missing readings are gaps, and are not filled. Means are over the sampled time, and the coverage says how much that
is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress, pairwise
from typing import Literal

from benchbrief.compiler.extensions.registry import TOOL_SPECS
from benchbrief.compiler.messages.text import figure, share_figure
from benchbrief.compiler.planning.plan import Probe
from benchbrief.results.ingest.cell_measurement import Measured, parse_probe, probe_gaps
from benchbrief.results.ingest.cell_verdicts import Verdict
from benchbrief.results.ingest.run_evidence import Evidence, Problem, first_problem
from benchbrief.results.kept_jobs import MEASURE, PROBE, probes_of
from benchbrief.results.messages.result_messages import say
from benchbrief.results.samples.declared_samples import broken_alone, require_declared, require_declared_by_tool
from benchbrief.results.samples.sample_coverage import COMPLETE
from benchbrief.results.samples.window_stretches import (
    FEWEST,
    Coverage,
    Stretch,
    both,
    coverage,
    covered_by,
    energy,
    share_spanned,
    stretches,
)
from benchbrief.results.store.sample_table import SampleBlock, SampleRow
from benchbrief.results.store.store_schema import (
    CoverageRow,
)
from benchbrief.runners.errors import BadOutput, RunnerError
from benchbrief.runners.journal import events as j
from benchbrief.runners.measurement.measurement import Sample
from benchbrief.runners.sampling import longest_step


@dataclass(frozen=True)
class Gap:
    """Why a probe gave no samples, or fewer than its readings."""

    severity: Literal["warning", "error"]
    text: str


@dataclass
class Sampled:
    """The rows of a cell's probes, and the notes on each, by `probe:<name>:<host>`."""

    samples: list[SampleRow | SampleBlock] = field(default_factory=list)
    coverage: list[CoverageRow] = field(default_factory=list)
    gaps: dict[str, Gap] = field(default_factory=dict)


def read_samples(
    evidence: Evidence, verdict: Verdict, measured: Measured, problems: Mapping[str, Problem | None]
) -> Sampled:
    """Return the samples of a cell, with the tools' own intervals.

    A probe without samples on one host has rows without a value for its measures on other hosts, so that a sum over
    hosts is known to be incomplete.
    """
    run_id, cell_id, window = evidence.run_id, verdict.cell.id, measured.window
    seconds = window[1] - window[0]
    found = Sampled([*_throughput(run_id, cell_id, measured)])
    tool = verdict.cell.tool.driver
    found.samples += tool_samples(run_id, cell_id, tool, _with_declared_samples(tool, measured, found.gaps))
    jobs = {(name, job.host): job for job in verdict.jobs for name in probes_of(job)}
    tools = {job.host: job for job in verdict.jobs if job.job == MEASURE}
    for probe in verdict.cell.probes:
        units: dict[str, str] = {}
        without = []
        for host in probe.hosts:
            job = jobs.get((probe.name, host)) or (tools.get(host) if probe.on == "tool" else None)
            samples = _samples(evidence, verdict, job, probe, window, problems, found.gaps) if job else ()
            columns = tuple(zip(*samples, strict=True)) if samples else ((),) * len(Sample._fields)
            measures, nodes, devices, times, values, its_units, over = columns
            units |= dict(zip(measures, its_units, strict=True))
            as_asked = evidence.simulated is None and evidence.imported is None
            every_s = probe.every_s if as_asked else max(probe.every_s, _interval(times))
            of = stretches(samples, every_s, seconds)
            if samples:
                named = measures, nodes, devices, times, values, its_units
                found.samples.append(SampleBlock(run_id, cell_id, *named, *zip(*of, strict=True)))
            covered = _coverage(times, over, of, every_s, seconds)
            row = CoverageRow(run_id, cell_id, probe.name, host, covered.share, covered.longest_s)
            found.coverage.append(row)
            patchy = covered.share < COMPLETE and (
                probe.name == "power" or _is_worth_a_note(samples, covered, every_s, seconds)
            )
            if not samples:
                without.append(host)
            elif patchy:
                _tell(found.gaps, f"{PROBE}{probe.name}:{host}", _patchy(probe, host, covered))
            if probe.name == "power" and samples:
                readings = [(part, s.value) for s, part in zip(samples, of, strict=True)]
                # Readings stand for the time to their neighbours, so that every other one may be missing unseen.
                joules = None if patchy else energy(readings, seconds)
                at = samples[0].time
                found.samples.append(SampleRow(run_id, cell_id, "energy", samples[0].node, "", at, joules, "J"))
                units["energy"] = "J"
                if joules is None:
                    _tell(found.gaps, f"{PROBE}energy:{host}", why_no_energy(host, of, covered, seconds))
        found.samples += [
            SampleRow(run_id, cell_id, measure, host, "", 0.0, None, unit)
            for host in without
            for measure, unit in units.items()
        ]
    return found


def _throughput(run_id: str, cell_id: str, measured: Measured) -> Iterator[SampleBlock]:
    """Yield the tools' own intervals inside the window that all load generators share."""
    start, end = measured.window
    for source, measurement in measured.sources.items():
        rows: list[tuple[str, float, float | None, str, float, float]] = []
        shift = measurement.window[0] - start
        for interval in measurement.intervals:
            at = interval.start_s + shift
            began, ended = max(0.0, at), min(at + interval.seconds, end - start)
            if ended > began:
                rows.append(("throughput", began, interval.count / interval.seconds, "ops/s", began, ended))
                if interval.p99_s is not None:
                    rows.append(("timeline.p99", began, interval.p99_s, "s", began, ended))
        if rows:
            measure, t_s, value, unit, from_s, to_s = zip(*rows, strict=True)
            here, nothing = [source] * len(rows), [""] * len(rows)
            yield SampleBlock(run_id, cell_id, measure, here, nothing, t_s, value, unit, from_s, to_s)


def _with_declared_samples(tool: str, measured: Measured, gaps: dict[str, Gap]) -> Measured:
    """Return what was measured, without the own samples of a load generator that break its spec."""
    sources = {}
    for host, measurement in measured.sources.items():
        sources[host] = measurement
        try:
            require_declared_by_tool(tool, measurement.samples)
        except BadOutput as error:
            gaps[f"{PROBE}{tool}:{host}"] = Gap("error", say.no_own_measures(tool=tool, host=host, said=error))
            sources[host] = replace(measurement, samples=())
    return replace(measured, sources=sources)


def _coverage(
    times: Sequence[float], over: Sequence[float], of: Sequence[Stretch], every_s: float, seconds: float
) -> Coverage:
    """Return the coverage: rates, which are `over` some seconds, cover these, and gauges the window by their number.
    The smaller one counts."""
    if not any(over):
        return coverage(times, every_s, seconds)
    rates = list(compress(of, over))
    times = [time for time, counted in zip(times, over, strict=True) if not counted]
    by_rates = covered_by(rates, seconds)
    return both(by_rates, coverage(times, every_s, seconds)) if times else by_rates


def _is_worth_a_note(samples: Sequence[Sample], covered: Coverage, every_s: float, seconds: float) -> bool:
    """Return whether a gap needs a note. In a short window a single late gauge is more than 5 % of it, and needs
    none; but one of power is missing in the energy.

    Rates are never late: what they do not cover was not counted.
    """
    missed = (1 - covered.share) * seconds
    late = longest_step(every_s)
    return any(sample.seconds for sample in samples) or missed > late or covered.longest_s > late


def why_no_energy(host: str, of: Sequence[Stretch], covered: Coverage, seconds: float) -> str:
    """Say why there are no joules for at least one reading: too few, or too little of the window sampled."""
    if len(of) < FEWEST:
        return say.energy_readings(host=host, least=FEWEST, readings=len(of))
    share = min(covered.share, share_spanned(of, seconds))
    return say.energy_gaps(host=host, share=share_figure(share))


def _samples(
    evidence: Evidence,
    verdict: Verdict,
    job: j.JobCollected,
    probe: Probe,
    window: tuple[float, float],
    problems: Mapping[str, Problem | None],
    gaps: dict[str, Gap],
) -> tuple[Sample, ...]:
    of = f"{PROBE}{probe.name}:{job.host}"
    problem = first_problem(problems[f"{job.directory}/{name}"] for name in job.files)
    if problem:
        gaps[of] = Gap("error", problem)
        return ()
    try:
        with broken_alone(probe.name):
            samples = parse_probe(evidence, verdict, job, probe.name, window)
            some_failed = probe_gaps(evidence, verdict, job, probe.name, window)
        require_declared(probe.name, samples)
    except RunnerError as error:
        gaps[of] = Gap("error", say.no_samples(probe=probe.name, host=job.host, said=error))
        return ()
    if not samples:
        gaps[of] = Gap("warning", say.no_sample(probe=probe.name, host=job.host))
    elif some_failed:
        gaps[of] = Gap("warning", some_failed)
    return samples


def _interval(times: Sequence[float]) -> float:
    """Return the interval of a host that is simulated or was measured elsewhere: it may be longer than asked for."""
    return min((b - a for a, b in pairwise(sorted(set(times)))), default=0.0)


def _tell(gaps: dict[str, Gap], of: str, text: str) -> None:
    before = gaps.get(of)
    gaps[of] = Gap("warning", say.both(first=before.text, then=text) if before else text)


def _patchy(probe: Probe, host: str, covered: Coverage) -> str:
    return say.patchy(
        probe=probe.name, host=host, share=share_figure(covered.share), seconds=figure(covered.longest_s, ".1f")
    )


def tool_samples(run_id: str, cell_id: str, tool: str, measured: Measured) -> Iterator[SampleRow]:
    """Yield the samples inside the window that all load generators share. The tool's spec declares them all.

    A measure that one of them lacks has a row without a value, so that a sum over them is known to be incomplete.
    """
    start, end = measured.window
    spec = TOOL_SPECS.usable(tool)
    units = {name: said.unit for name, said in spec.measures.items()} if spec else {}
    for source, measurement in measured.sources.items():
        samples = measurement.samples
        of = stretches(samples, _step([sample.time for sample in samples]), end - start)
        shift = measurement.window[0] - start
        seen = set()
        for sample, part in zip(samples, of, strict=True):
            began, ended = max(0.0, part.start + shift), min(part.end + shift, end - start)
            if ended > began or not sample.seconds:
                seen.add(sample.measure)
                at = min(max(0.0, sample.time + shift), end - start)
                yield SampleRow(
                    run_id, cell_id, sample.measure, source, sample.device, at, sample.value, sample.unit, began, ended
                )
        for measure, unit in units.items():
            if measure not in seen:
                yield SampleRow(run_id, cell_id, measure, source, "", 0.0, None, unit)


def _step(times: list[float]) -> float:
    """Estimate the distance of gauges."""
    return max((after - before for before, after in pairwise(sorted(set(times)))), default=1.0)

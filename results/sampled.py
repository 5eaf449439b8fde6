"""What the probes of a cell sampled: their samples, how much of the measured window these cover, and the energy.

Missing readings are gaps: nothing is put in their place. Means are over what was sampled, and the coverage says how
much that is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from benchbrief.compiler.plan import Probe
from benchbrief.results.coverage import TOLD
from benchbrief.results.evidence import Evidence, Problem, first_problem
from benchbrief.results.measured import MEASURE, PROBE, Measured, parse_probe, probe_gaps, probes_of
from benchbrief.results.schema import CoverageRow, SampleRow
from benchbrief.results.verdicts import Verdict
from benchbrief.runners import journal as j
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.measurement import Sample
from benchbrief.runners.probes import longest_step

_FEWEST = 3
"""Readings of power that an energy takes: of fewer, it would be what was drawn at one moment, held for all."""


@dataclass(frozen=True)
class Gap:
    """Why a probe gave no samples, or fewer than it took readings."""

    severity: Literal["warning", "error"]
    text: str


@dataclass(frozen=True)
class Coverage:
    """`share` of the window was sampled; `longest_s` is its longest stretch without a reading, 0 where none lacks."""

    share: float
    longest_s: float


@dataclass
class Sampled:
    """The rows of a cell's probes, and what has to be told of each, by `probe:<name>:<host>`."""

    samples: list[SampleRow] = field(default_factory=list)
    coverage: list[CoverageRow] = field(default_factory=list)
    gaps: dict[str, Gap] = field(default_factory=dict)


def sampled(
    evidence: Evidence, verdict: Verdict, measured: Measured, problems: Mapping[str, Problem | None]
) -> Sampled:
    """The tools' own intervals too. A probe without samples on one host has rows without a value for what it has on
    others, so that a sum over hosts is known to lack one."""
    run_id, cell_id, window = evidence.run_id, verdict.cell.id, measured.window
    seconds = window[1] - window[0]
    found = Sampled(
        [
            SampleRow(run_id, cell_id, "throughput", source, "", at, interval.count / interval.seconds, "ops/s")
            for source, measurement in measured.sources.items()
            for interval in measurement.intervals
            if interval.seconds > 0 and (at := interval.start_s + measurement.window[0] - window[0]) >= 0
        ]
    )
    jobs = {(name, job.host): job for job in verdict.jobs for name in probes_of(job)}
    tools = {job.host: job for job in verdict.jobs if job.job == MEASURE}
    for probe in verdict.cell.probes:
        units: dict[str, str] = {}
        without = []
        for host in probe.hosts:
            job = jobs.get((probe.name, host)) or (tools.get(host) if probe.on == "tool" else None)
            samples = _samples(evidence, verdict, job, probe, window, problems, found.gaps) if job else ()
            units |= {sample.measure: sample.unit for sample in samples}
            found.samples += [
                SampleRow(run_id, cell_id, s.measure, s.node, s.device, s.time, s.value, s.unit) for s in samples
            ]
            as_asked = evidence.simulated is None and evidence.imported is None
            every_s = probe.every_s if as_asked else max(probe.every_s, _interval(samples))
            covered = coverage([sample.time for sample in samples], every_s, seconds)
            row = CoverageRow(run_id, cell_id, probe.name, host, covered.share, covered.longest_s)
            found.coverage.append(row)
            if not samples:
                without.append(host)
            elif _is_patchy(covered, every_s, seconds):
                _tell(found.gaps, f"{PROBE}{probe.name}:{host}", _patchy(probe, host, covered))
            if probe.name == "power" and samples:
                joules = energy([(sample.time, sample.value) for sample in samples], every_s, seconds)
                found.samples.append(
                    SampleRow(run_id, cell_id, "energy", samples[0].node, "", samples[0].time, joules, "J")
                )
                units["energy"] = "J"
                if joules is None:
                    text = why_no_energy(host, [sample.time for sample in samples], every_s, seconds)
                    _tell(found.gaps, f"{PROBE}energy:{host}", text)
        found.samples += [
            SampleRow(run_id, cell_id, measure, host, "", 0.0, None, unit)
            for host in without
            for measure, unit in units.items()
        ]
    return found


def coverage(times: Sequence[float], every_s: float, seconds: float) -> Coverage:
    """Of a window of so many seconds, by readings at these times from its start.

    The least of two: the readings against those due between the first and the last, and the window without the
    stretches that no reading stands for. A single reading stands for one interval.
    """
    found = sorted(set(times))
    if not found or seconds <= 0:
        return Coverage(0.0, max(seconds, 0.0))
    due = 1 + round((found[-1] - found[0]) / every_s) if len(found) > 1 else seconds / every_s
    share = min(_spanned(found, every_s, seconds), len(found) / due)
    longest = max(b - a for a, b in pairwise([0.0, *found, seconds]))
    return Coverage(min(share, 1.0), longest if share < 1 else 0.0)


def _spanned(times: Sequence[float], every_s: float, seconds: float) -> float:
    """The share of the window without gaps: a reading stands for the time to the next one, and the first and the last
    for the ends of the window, unless that is longer than `longest_step`."""
    gaps = (b - a for a, b in pairwise([0.0, *times, seconds]))
    return max(0.0, 1 - sum(gap for gap in gaps if gap > longest_step(every_s)) / seconds)


def _is_patchy(covered: Coverage, every_s: float, seconds: float) -> bool:
    """In a short window one reading that was late is more than 5 % of it, and nothing to tell of."""
    missed = (1 - covered.share) * seconds
    return covered.share < TOLD and (missed > longest_step(every_s) or covered.longest_s > longest_step(every_s))


def energy(watts: Sequence[tuple[float, float]], every_s: float, seconds: float) -> float | None:
    """Joules over a window of so many seconds, from readings of power (seconds from its start, W) in order of time.

    The trapezoid rule between readings; before the first and after the last, their values are held, since what is
    outside of the window may be another load. Where a little was missed, that has the mean of the rest; None when more
    than 5 % was, or when there are fewer than three readings.
    """
    if len(watts) < _FEWEST or _spanned([time for time, _ in watts], every_s, seconds) < TOLD:
        return None
    ends = [(0.0, watts[0][1]), *watts, (seconds, watts[-1][1])]
    steps = [(b[0] - a[0], (a[1] + b[1]) / 2) for a, b in pairwise(ends) if b[0] - a[0] <= longest_step(every_s)]
    covered = sum(length for length, _ in steps)
    return sum(length * mean for length, mean in steps) * (seconds / covered) if covered > 0 else None


def why_no_energy(host: str, times: Sequence[float], every_s: float, seconds: float) -> str:
    """Of readings, one at least, that `energy` gives no joules for."""
    if len(times) < _FEWEST:
        return (
            f"the energy of {host} is not known: that takes {_FEWEST} readings of power inside the measured window, "
            f"and there were {len(times)}"
        )
    share = _spanned(times, every_s, seconds)
    return f"the energy of {host} is not known: its power was sampled for {share:.0%} of the measured window"


def _samples(
    evidence: Evidence,
    verdict: Verdict,
    job: j.JobCollected,
    probe: Probe,
    window: tuple[float, float],
    problems: Mapping[str, Problem | None],
    gaps: dict[str, Gap],
) -> tuple[Sample, ...]:
    of, named = f"{PROBE}{probe.name}:{job.host}", f"the {probe.name} probe on {job.host}"
    problem = first_problem(problems[f"{job.directory}/{name}"] for name in job.files)
    if problem:
        gaps[of] = Gap("error", problem)
        return ()
    try:
        samples = parse_probe(evidence, verdict, job, probe.name, window)
        some_failed = probe_gaps(evidence, verdict, job, probe.name, window)
    except RunnerError as error:
        gaps[of] = Gap("error", f"{named} gave no samples: {error}")
        return ()
    if not samples:
        gaps[of] = Gap("warning", f"{named} gave no sample inside the measured window")
    elif some_failed:
        gaps[of] = Gap("warning", some_failed)
    return samples


def _interval(samples: Sequence[Sample]) -> float:
    """How often a host was sampled that is simulated, or was measured elsewhere: maybe less often than asked for."""
    times = sorted({sample.time for sample in samples})
    return min((b - a for a, b in pairwise(times)), default=0.0)


def _tell(gaps: dict[str, Gap], of: str, text: str) -> None:
    before = gaps.get(of)
    gaps[of] = Gap("warning", f"{before.text}; {text}" if before else text)


def _patchy(probe: Probe, host: str, covered: Coverage) -> str:
    return (
        f"{probe.name} of {host} was sampled for {covered.share:.0%} of the measured window: "
        f"the longest gap is {covered.longest_s:.1f} s"
    )

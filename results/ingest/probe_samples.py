"""A cell's probe samples, their coverage of the measured window, and the energy.

Missing readings are gaps, which are not filled. Means cover only the sampled time, and the coverage says how much of
the window that is.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from itertools import compress, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Literal, NamedTuple

from benchbrief.compiler.registry import PROBE_SPECS, TOOL_SPECS
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.events import MEASURE, PROBE, probes_of
from benchbrief.model.measurement import Sample
from benchbrief.model.message import figure, share_figure
from benchbrief.model.plan import Probe
from benchbrief.model.precision import COMPLETE
from benchbrief.results.ingest.cell_measurement import CellMeasurement, parse_probe, probe_gaps
from benchbrief.results.ingest.run_evidence import CellVerdict, Evidence, Problem, first_problem
from benchbrief.results.result_messages import say
from benchbrief.results.store.store_schema import CoverageRow, SampleBlock, SampleRow
from benchbrief.runners.errors import BadOutput, RunnerError
from benchbrief.runners.sampling import longest_step


def require_declared(probe: str, samples: Sequence[Sample]) -> None:
    """Check that measures and units agree with the specs, because metrics and briefs rely on them.

    Raises BadOutput for a measure that neither the probe's spec nor a probe of benchbrief declares, and for a unit
    other than the declared one.
    """
    specs = [PROBE_SPECS.usable(probe), *PROBE_SPECS.own.values()]
    _check({name: measure.unit for spec in specs if spec for name, measure in spec.measures.items()}, samples)


def require_declared_by_tool(tool: str, samples: Sequence[Sample]) -> None:
    """Check the measures and units of a load generator's own samples. Raises BadOutput like `require_declared`."""
    spec = TOOL_SPECS.usable(tool)
    _check({name: measure.unit for name, measure in spec.measures.items()} if spec else {}, samples)


_MEASURE_AND_UNIT = itemgetter(0, 5)
"""A fast getter for the measure and the unit of a `Sample`. Speed matters because a cell has hundreds of samples."""


def _check(declared: Mapping[str, str], samples: Sequence[Sample]) -> None:
    """Raise BadOutput for a measure or a unit that differs from the declared ones."""
    for measure, unit in dict.fromkeys(map(_MEASURE_AND_UNIT, samples)):
        if measure not in declared:
            raise BadOutput(say.measure_undeclared(measure=measure))
        if unit != declared[measure]:
            raise BadOutput(say.other_unit(measure=measure, unit=unit or "1", declared=declared[measure] or "1"))


@contextmanager
def broken_alone(probe: str) -> Iterator[None]:
    """Convert an unexpected error in another package's probe to a RunnerError that names the package and the line of
    code.

    Then only the probe's samples are lost, and the rest of the run is kept.
    """
    try:
        yield
    except RunnerError:
        raise
    except Exception as error:
        package = PROBE_SPECS.source(probe)
        if not package:
            raise
        last = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__}: {error}"
        raise RunnerError(
            say.probe_broke(package=package, place=f"{Path(last.filename).name}:{last.lineno}", said=said)
        ) from error


FEWEST = 3
"""The fewest power readings for computing an energy. With fewer, a momentary value would represent the whole window."""


class Stretch(NamedTuple):
    """A part of the window, in seconds from its start."""

    start: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.start


_UNSET = Stretch(0.0, 0.0)


@dataclass(frozen=True)
class Coverage:
    """The share of the window that was sampled. `longest_s` is the longest stretch without a reading, or 0 if there are
    no gaps."""

    share: float
    longest_s: float


def stretches(samples: Sequence[Sample], every_s: float, seconds: float) -> list[Stretch]:
    """For each sample, return the stretch of the window that it represents."""
    found = [_UNSET] * len(samples)
    gauges: dict[tuple[str, str, str], list[int]] = {}
    for place, (measure, node, device, time, _, _, over) in enumerate(samples):
        if over:
            found[place] = Stretch(time - over, time)
        else:
            gauges.setdefault((measure, node, device), []).append(place)
    read: dict[tuple[float, ...], list[Stretch]] = {}
    """The stretches by reading times. Each is computed only once, because a probe reads all its measures at the same
    times."""
    at = [sample.time for sample in samples]
    for places in gauges.values():
        places.sort(key=at.__getitem__)
        times = tuple(at[place] for place in places)
        if times not in read:
            read[times] = gauge_stretches(times, every_s, seconds)
        for place, part in zip(places, read[times], strict=True):
            found[place] = part
    return found


def gauge_stretches(times: Sequence[float], every_s: float, seconds: float) -> list[Stretch]:
    """Return the stretch of the window that each gauge reading represents. `times` are the reading times in ascending
    order."""
    longest = longest_step(every_s)
    ends = [0.0, *times, seconds]
    # A reading represents half the time to its neighbours, and all of the time at the ends of the window.
    halves = [gap / 2 if gap <= longest else 0.0 for gap in (b - a for a, b in pairwise(ends))]
    halves[0], halves[-1] = 2 * halves[0], 2 * halves[-1]
    return [Stretch(time - halves[i], time + halves[i + 1]) for i, time in enumerate(times)]


def coverage(times: Sequence[float], every_s: float, seconds: float) -> Coverage:
    """Return what share of a window of `seconds` is covered by gauges that were read at these times, counted from its
    start.

    This is the smaller of two shares. One is the number of readings that were taken, divided by the number that were
    due between the first and the last. The other is the share of the window without gaps. A single reading covers one
    interval. A burst of readings does not make up for gaps elsewhere.
    """
    found = sorted(set(times))
    if not found or seconds <= 0:
        return Coverage(0.0, max(seconds, 0.0))
    due = 1 + round((found[-1] - found[0]) / every_s) if len(found) > 1 else seconds / every_s
    share = min(share_spanned(gauge_stretches(found, every_s, seconds), seconds), _taken(found, every_s) / due)
    longest = max(b - a for a, b in pairwise([0.0, *found, seconds]))
    return Coverage(min(share, 1.0), longest if share < 1 else 0.0)


def _taken(times: Sequence[float], every_s: float) -> int:
    """Return how many of the due readings were taken. One is due in each interval, from the first reading on.

    A reading may be up to half an interval early, or less than one interval late. Each reading counts at most once.
    """
    taken = place = 0
    for number in range(1 + round((times[-1] - times[0]) / every_s)):
        due = times[0] + number * every_s
        while place < len(times) and times[place] <= due - every_s / 2:
            place += 1
        if place < len(times) and times[place] < due + every_s:
            taken, place = taken + 1, place + 1
    return taken


def covered_by(parts: Iterable[Stretch], seconds: float) -> Coverage:
    """Return what share of a window of `seconds` is covered by rates over these stretches."""
    gaps, reached = [], 0.0
    for part in sorted(parts):
        gaps.append(max(0.0, part.start - reached))
        reached = max(reached, part.end)
    gaps.append(max(0.0, seconds - reached))
    missed = sum(gap for gap in gaps if gap > _ROUNDING_S)
    if not missed or seconds <= 0:
        return Coverage(1.0, 0.0)
    return Coverage(max(0.0, 1 - missed / seconds), max(gaps))


_ROUNDING_S = 1e-6


def both(first: Coverage, second: Coverage) -> Coverage:
    return Coverage(min(first.share, second.share), max(first.longest_s, second.longest_s))


def share_spanned(parts: Sequence[Stretch], seconds: float) -> float:
    """Return which share of the window is covered by the stretches. The stretches must not overlap."""
    return sum(part.seconds for part in parts) / seconds if seconds > 0 else 0.0


def energy(watts: Sequence[tuple[Stretch, float]], seconds: float) -> float | None:
    """Return the energy in a window of `seconds`, in joules, from readings of power (W) and their stretches.

    Small gaps are assumed to have the mean power of the rest. Returns None if more than 5 % of the window is missing,
    or if there are fewer than three readings.
    """
    covered = sum(part.seconds for part, _ in watts)
    if len(watts) < FEWEST or covered < COMPLETE * seconds or covered <= 0:
        return None
    return sum(part.seconds * each for part, each in watts) * (seconds / covered)


@dataclass(frozen=True)
class SampleGap:
    """The reason why a probe gave no samples, or fewer samples than expected."""

    severity: Literal["warning", "error"]
    text: str


@dataclass
class ProbeRows:
    """The rows of a cell's probes, and a note on each gap, by `probe:<name>:<host>`."""

    samples: list[SampleRow | SampleBlock] = field(default_factory=list)
    coverage: list[CoverageRow] = field(default_factory=list)
    gaps: dict[str, SampleGap] = field(default_factory=dict)


def read_samples(
    evidence: Evidence, verdict: CellVerdict, measured: CellMeasurement, problems: Mapping[str, Problem | None]
) -> ProbeRows:
    """Return the samples of a cell, including the throughput that the tools report for their own intervals.

    If a probe has samples on some hosts only, each other host gets rows without a value. These show that a sum over all
    hosts is incomplete.
    """
    run_id, cell_id, window = evidence.run_id, verdict.cell.id, measured.window
    seconds = window[1] - window[0]
    found = ProbeRows([*_throughput(run_id, cell_id, measured)])
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
                # A reading represents the time to its neighbours, so every other one may be missing unnoticed.
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


def _throughput(run_id: str, cell_id: str, measured: CellMeasurement) -> Iterator[SampleBlock]:
    """Yield the throughput in the tools' own reporting intervals, limited to the window that all load generators
    share."""
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


def _with_declared_samples(tool: str, measured: CellMeasurement, gaps: dict[str, SampleGap]) -> CellMeasurement:
    """Return the measurement, without the load generator's own samples if they contradict its spec."""
    sources = {}
    for host, measurement in measured.sources.items():
        sources[host] = measurement
        try:
            require_declared_by_tool(tool, measurement.samples)
        except BadOutput as error:
            gaps[f"{PROBE}{tool}:{host}"] = SampleGap("error", say.no_own_measures(tool=tool, host=host, said=error))
            sources[host] = replace(measurement, samples=())
    return replace(measured, sources=sources)


def _coverage(
    times: Sequence[float], over: Sequence[float], of: Sequence[Stretch], every_s: float, seconds: float
) -> Coverage:
    """Return the smaller of two coverages. The coverage of rates counts the seconds covered, and the coverage of gauges
    counts readings."""
    if not any(over):
        return coverage(times, every_s, seconds)
    rates = list(compress(of, over))
    times = [time for time, counted in zip(times, over, strict=True) if not counted]
    by_rates = covered_by(rates, seconds)
    return both(by_rates, coverage(times, every_s, seconds)) if times else by_rates


def _is_worth_a_note(samples: Sequence[Sample], covered: Coverage, every_s: float, seconds: float) -> bool:
    """Return whether a gap deserves a note.

    In a short window, a single late gauge may be more than 5 % of the window. Such a gap needs a note only if the gauge
    is a reading of power, because then the energy can't be computed. Rates are never late: nothing was counted in the
    time that they do not cover.
    """
    missed = (1 - covered.share) * seconds
    late = longest_step(every_s)
    return any(sample.seconds for sample in samples) or missed > late or covered.longest_s > late


def why_no_energy(host: str, of: Sequence[Stretch], covered: Coverage, seconds: float) -> str:
    """Return why there is no energy although there are readings: there are too few, or they cover too little of the
    window."""
    if len(of) < FEWEST:
        return say.energy_readings(host=host, least=FEWEST, readings=len(of))
    share = min(covered.share, share_spanned(of, seconds))
    return say.energy_gaps(host=host, share=share_figure(share))


def _samples(
    evidence: Evidence,
    verdict: CellVerdict,
    job: j.JobCollected,
    probe: Probe,
    window: tuple[float, float],
    problems: Mapping[str, Problem | None],
    gaps: dict[str, SampleGap],
) -> tuple[Sample, ...]:
    of = f"{PROBE}{probe.name}:{job.host}"
    problem = first_problem(problems[f"{job.directory}/{name}"] for name in job.files)
    if problem:
        gaps[of] = SampleGap("error", problem)
        return ()
    try:
        with broken_alone(probe.name):
            samples = parse_probe(evidence, verdict, job, probe.name, window)
            some_failed = probe_gaps(evidence, verdict, job, probe.name, window)
        require_declared(probe.name, samples)
    except RunnerError as error:
        gaps[of] = SampleGap("error", say.no_samples(probe=probe.name, host=job.host, said=error))
        return ()
    if not samples:
        gaps[of] = SampleGap("warning", say.no_sample(probe=probe.name, host=job.host))
    elif some_failed:
        gaps[of] = SampleGap("warning", some_failed)
    return samples


def _interval(times: Sequence[float]) -> float:
    """Return the interval between readings, estimated from their times. It may be longer than requested, for example on
    a simulated host."""
    return min((b - a for a, b in pairwise(sorted(set(times)))), default=0.0)


def _tell(gaps: dict[str, SampleGap], of: str, text: str) -> None:
    before = gaps.get(of)
    gaps[of] = SampleGap("warning", say.both(first=before.text, then=text) if before else text)


def _patchy(probe: Probe, host: str, covered: Coverage) -> str:
    return say.patchy(
        probe=probe.name, host=host, share=share_figure(covered.share), seconds=figure(covered.longest_s, ".1f")
    )


def tool_samples(run_id: str, cell_id: str, tool: str, measured: CellMeasurement) -> Iterator[SampleRow]:
    """Yield a load generator's own samples, inside the window that all load generators share.

    The load generator's spec declares their measures. If one load generator lacks a measure, it gets a row without a
    value, to show that a sum over all load generators is incomplete.
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
    """Return the longest gap between consecutive gauge readings in seconds, or 1 if there are fewer than two."""
    return max((after - before for before, after in pairwise(sorted(set(times)))), default=1.0)

"""Makes all rows of one cell except its latencies, which belong to the rows of its point."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.events import MEASURE
from benchbrief.model.measurement import Histogram
from benchbrief.model.message import Message, PrintedNumber, figure, share_figure
from benchbrief.model.plan import Event
from benchbrief.model.run_messages import say as say_of_run
from benchbrief.model.steadiness import before_first, find_transient
from benchbrief.results.ingest.cell_measurement import CellMeasurement, parse_cell, throughput_rows
from benchbrief.results.ingest.probe_samples import ProbeRows, SampleGap, read_samples
from benchbrief.results.ingest.run_evidence import CellVerdict, Evidence, Problem, check_files
from benchbrief.results.result_messages import say
from benchbrief.results.statistics.recovery import RateSample, Recovery, add_sources, recovery
from benchbrief.results.store.store_schema import (
    CellRow,
    CounterRow,
    EventRow,
    FileRow,
    HistogramBucket,
    NoteRow,
    OperationRow,
    PropertyRow,
    Row,
    SizeRow,
    SteadyRow,
    utc,
)
from benchbrief.runners.hosts.host_clocks import Offset
from benchbrief.runners.journal.run_folder import cell_directory

_SAME = 1.1
"""If the jobs together last at most this many times as long as the window, the counters before and after them stand for
the window without a remark."""
_NEAR = 0.1
"""A counter at an end of the window counts as certain if a reading is no farther from that end than this share of the
window."""


@dataclass(frozen=True)
class CounterSpan:
    """The counters at both ends of the window. `reason` says why they do not match the window exactly, or is None if
    they do."""

    before: dict[str, float]
    after: dict[str, float]
    reason: str | None


def around_window(record: j.Counters, jobs: Sequence[j.JobCollected], window: tuple[float, float]) -> CounterSpan:
    """Interpolate the counters at both ends of the window, from the readings before and after each end.

    If an end has no reading on one side, the readings around the whole measured jobs are used instead. The window, and
    the times of jobs and readings, are in the time of the controller's clock.
    """
    began, ended = min(job.started_at for job in jobs), max(job.ended_at for job in jobs)
    ahead = _ahead(record, began, ended)
    start, end = window[0] + ahead, window[1] + ahead
    measured, ends = window[1] - window[0], [_around(record.samples, at) for at in (start, end)]
    if any(around is None for around in ends):
        covered = ended - began
        wide = (
            say.counter_wide(seconds=figure(covered, ".1f"), measured=figure(measured, ".1f"))
            if covered > _SAME * measured
            else None
        )
        return CounterSpan(record.before, record.after, wide)
    first, last = (around for around in ends if around is not None)
    nearest = max(_nearest(start, first), _nearest(end, last))
    far = say.counter_far(seconds=figure(nearest, ".1f")) if nearest > _NEAR * measured else None
    return CounterSpan(_at(start, *first), _at(end, *reversed(last)), far)


_Reading = tuple[float, dict[str, float]]


def _nearest(time: float, around: Sequence[_Reading]) -> float:
    return min(abs(at - time) for at, _ in around)


def _around(samples: Sequence[_Reading], at: float) -> tuple[_Reading, _Reading] | None:
    """Return the last reading at a time or before, and the first one from that time on, or None if either is
    missing."""
    before = max((sample for sample in samples if sample[0] <= at), key=_time, default=None)
    after = min((sample for sample in samples if sample[0] >= at), key=_time, default=None)
    return (before, after) if before and after else None


def _at(time: float, outer: _Reading, inner: _Reading) -> dict[str, float]:
    """Interpolate the counters at a time between two readings. `outer` is the reading outside of the window, and
    `inner` is the one inside.

    If only the outer reading has a counter, or if the counter decreased, its change is unknown. The value of the outer
    reading is then returned.
    """
    apart = inner[0] - outer[0]
    share = (time - outer[0]) / apart if apart else 0.0
    found = {}
    for name, value in outer[1].items():
        moved = inner[1].get(name, value) - value
        found[name] = value + moved * share if moved * apart > 0 else value
    return found


def _time(sample: _Reading) -> float:
    return sample[0]


def _ahead(record: j.Counters, began: float, ended: float) -> float:
    """Return how many seconds the readings' clock is ahead of the jobs' clock.

    The first reading was taken before the jobs began, and the last one after they ended. If the times show this order,
    the clocks count as equal. Otherwise, the result is the middle of the possible range.
    """
    if not record.samples or not record.before or not record.after:
        return 0.0
    least, most = record.samples[0][0] - began, record.samples[-1][0] - ended
    return 0.0 if least <= 0 <= most else (least + most) / 2


def size_rows(evidence: Evidence, verdict: CellVerdict, measured: CellMeasurement) -> Iterator[SizeRow]:
    """Yield a row for each size of a measured cell's database. A row has the size, or the reason why it is missing."""
    if not measured.sources or evidence.imported:
        return
    noted = {size.when: size for size in verdict.sizes if size.attempt == verdict.attempt}
    node = evidence.plan.hardware[verdict.cell.hardware].hosts[0]
    loaded, now = noted.get("loaded"), noted.get("measured")

    def row(measure: str, value: float | None, unit: str, reason: str) -> SizeRow:
        return SizeRow(evidence.run_id, verdict.cell.id, measure, node, value, unit, reason if value is None else None)

    no_load = say.size_not_loaded() if verdict.cell.dataset is None else say.size_not_noted()
    yield row("database.size_loaded", *(_on_disk(loaded) if loaded else (None, "B", no_load)))
    yield row("database.size", *(_on_disk(now) if now else (None, "B", say.size_not_noted())))
    yield row("database.space_amplification", *(_amplification(now) if now else (None, "", say.size_not_noted())))


def _on_disk(size: j.DatabaseSize) -> tuple[float | None, str, str]:
    return size.on_disk, "B", size.why_no_disk


def _amplification(size: j.DatabaseSize) -> tuple[float | None, str, str]:
    """Return the size on disk divided by the size of the records, which RocksDB's Tuning Guide calls space
    amplification."""
    if size.on_disk is None or not size.logical:
        return None, "", size.why_no_disk or size.why_no_logical or say.database_empty()
    return size.on_disk / size.logical, "", ""


def event_rows(run_id: str, verdict: CellVerdict, measured: CellMeasurement) -> Iterator[EventRow]:
    """Yield a row for each event of a measured cell, with the event's effect on throughput and latency."""
    if not measured.sources:
        return
    start, end = measured.window
    samples = _samples(measured)
    ran = {(each.number, each.host): each for each in verdict.events}
    events = verdict.cell.events
    began = []
    for number, event in enumerate(events, 1):
        times = [each.began_at for (n, _), each in ran.items() if n == number and each.began_at is not None]
        began.append(min(times) - start if times else event.at_s)
    for number, event in enumerate(events, 1):
        at, until = began[number - 1], began[number] if number < len(events) else end - start
        found = recovery(samples, event, at, until)
        yield EventRow(
            run_id,
            verdict.cell.id,
            number,
            event.label,
            ", ".join(event.hosts),
            event.at_s,
            at,
            max((each.seconds for (n, _), each in ran.items() if n == number), default=0.0),
            0,
            found.before if found else None,
            found.lowest if found else None,
            found.dip if found else None,
            found.recovery_s if found else None,
            found.outage_s if found else None,
            found.latency_s if found else None,
            why_missing(event, found, until - at),
            why_no_latency(event, found, until - at),
        )


def why_missing(event: Event, found: Recovery | None, left_s: float) -> str | None:
    """Return why an event has no recovery time, or has no values at all. Returns None if it has a recovery time."""
    if found is None:
        return say_of_run.event_nothing_before(label=event.label)
    if found.recovery_s is None:
        return say_of_run.event_not_back(
            label=event.label, share=share_figure(event.within), seconds=figure(left_s, ".0f")
        )
    return None


def why_no_latency(event: Event, found: Recovery | None, left_s: float) -> str | None:
    """Return why the recovery time of the latency is unknown, or None if it is known."""
    if found is None or found.latency_s is not None:
        return why_missing(event, found, left_s) if found is None else None
    if not found.has_latency:
        return say_of_run.event_latency_untold(label=event.label)
    share, seconds = share_figure(event.within), figure(left_s, ".0f")
    return say_of_run.event_latency_not_back(label=event.label, share=share, seconds=seconds)


def _samples(measured: CellMeasurement) -> list[RateSample]:
    start, _ = measured.window
    return add_sources(
        [
            [
                RateSample(at, at + each.seconds, each.count / each.seconds, each.p99_s)
                for each in measurement.intervals
                if each.seconds > 0
                for at in [each.start_s + measurement.window[0] - start]
            ]
            for measurement in measured.sources.values()
        ]
    )


_CLOCK_S = 0.01
"""The smallest error of a clock that is reported, in seconds."""


def cell_rows(evidence: Evidence, verdict: CellVerdict) -> tuple[CellMeasurement, list[Row]]:
    """Return a cell's measurement and its rows. If the cell is not ok, the measurement is empty and has a reason."""
    run_id = evidence.run_id
    problems: dict[str, Problem | None] = {}
    for job in verdict.jobs:
        problems |= check_files(evidence.root, job)
    measured = parse_cell(evidence, verdict, problems) if verdict.status == "ok" else CellMeasurement({})
    beside = read_samples(evidence, verdict, measured, problems) if measured.sources else ProbeRows()
    events = list(event_rows(run_id, verdict, measured))
    return measured, [
        cell_row(evidence, verdict, measured),
        *throughput_rows(run_id, verdict, measured),
        *_operation_rows(run_id, verdict, measured),
        *_property_rows(run_id, verdict, measured),
        *_node_rows(evidence, verdict),
        *beside.samples,
        *beside.coverage,
        *size_rows(evidence, verdict, measured),
        *events,
        *_steady_rows(evidence, verdict, measured),
        *_counter_rows(run_id, verdict, measured),
        *_note_rows(evidence, verdict, measured, problems, beside.gaps),
        *(NoteRow(run_id, verdict.cell.id, "warning", event.reason, "") for event in events if event.reason),
        *file_rows(run_id, verdict, problems),
    ]


def cell_row(evidence: Evidence, verdict: CellVerdict, measured: CellMeasurement) -> CellRow:
    cell = verdict.cell
    reused = evidence.reused.get(cell.id)
    lengths = [total.seconds for m in measured.sources.values() for total in m.throughput if total.phase is None]
    return CellRow(
        run_id=evidence.run_id,
        cell_id=cell.id,
        cell_hash=cell.hash,
        experiment=cell.experiment,
        hardware=cell.hardware,
        database=cell.database,
        workload=cell.workload,
        levels=cell.levels,
        threads=cell.threads,
        target=cell.target,
        repeat=cell.repeat,
        status="failed" if measured.problem else verdict.status,
        reason=measured.problem or verdict.reason,
        attempt=verdict.attempt,
        started_at=None if evidence.imported else utc(verdict.started_at),
        measured_s=max(lengths, default=0.0) or None,
        warm_up_s=cell.warm_up_s,
        raw_dir=str(cell_directory(cell.id, verdict.attempt)) if verdict.attempt is not None else None,
        origin=str(cell.origin),
        reused_from=reused.reused_from if reused else None,
        transient_s=_transient_s(measured, cell.events),
        due=measured.together.measurement().due if measured.sources else None,
    )


def _steady_rows(evidence: Evidence, verdict: CellVerdict, measured: CellMeasurement) -> Iterator[SteadyRow]:
    rule = evidence.plan.experiments[verdict.cell.experiment].until_steady
    ends = [each.steady for each in measured.sources.values() if each.steady]
    if rule and ends:
        (end,) = ends  # for a single load generator
        rules = (rule.within, rule.from_s, verdict.cell.measure_s)
        widths = (end.throughput_half_width, end.throughput_correlation)
        others = (end.latency_half_width, end.latency_correlation)
        place = (evidence.run_id, verdict.cell.id)
        yield SteadyRow(*place, end.steady, *rules, end.lasted_s, end.cut_s, *widths, *others)


def _transient_s(measured: CellMeasurement, events: Sequence[Event]) -> float | None:
    """Return the longest transient of any load generator, in seconds, before the cell's first event.

    Returns 0 if no transient changes the mean, and None for a load phase, or if the transient can't be found.
    """
    if measured.load:
        return None
    before = (before_first(events, m.intervals) for m in measured.sources.values())
    found = [each for intervals in before if (each := find_transient(intervals))]
    return max((each.seconds if each.noted else 0.0 for each in found), default=None)


def _operation_rows(run_id: str, verdict: CellVerdict, measured: CellMeasurement) -> Iterator[OperationRow]:
    for source, measurement in measured.sources.items():
        for op in measurement.operations:
            # For an operation that never ran, a tool prints the start value of its counters: 0, or the largest number.
            latencies = (op.mean_s, op.min_s, op.max_s) if op.count else (None, None, None)
            yield OperationRow(
                run_id,
                verdict.cell.id,
                op.phase,
                source,
                op.operation,
                op.kind,
                op.count,
                op.errors,
                *latencies,
                _buckets(op.histogram),
                say.gave_no_histogram() if op.histogram is None else None,
            )


def _buckets(histogram: Histogram | None) -> tuple[HistogramBucket, ...] | None:
    return None if histogram is None else tuple(map(HistogramBucket._make, histogram.buckets))


def _property_rows(run_id: str, verdict: CellVerdict, measured: CellMeasurement) -> Iterator[PropertyRow]:
    for source, measurement in measured.sources.items():
        properties = dict(measurement.properties)
        if measurement.tool_version:
            properties.setdefault("version", measurement.tool_version)
        for name, value in properties.items():
            yield PropertyRow(run_id, verdict.cell.id, source, name, value)


def _node_rows(evidence: Evidence, verdict: CellVerdict) -> Iterator[PropertyRow]:
    """Yield the node that a scheduler assigned to each of the cell's hosts."""
    history = evidence.record.cells.get(verdict.cell.id)
    started = history.started.get(verdict.attempt) if history and verdict.attempt else None
    for host in verdict.cell.locks if started else ():
        if started and host in started.nodes:
            yield PropertyRow(evidence.run_id, verdict.cell.id, host, "node", started.nodes[host])


def _counter_rows(run_id: str, verdict: CellVerdict, measured: CellMeasurement) -> Iterator[CounterRow]:
    if not measured.sources:
        return
    jobs = [_by_our_clock(job, verdict.offset(job.host)) for job in verdict.jobs if job.job == MEASURE]
    for record in verdict.counters:
        span = around_window(record, jobs, measured.window)
        for name in dict.fromkeys((*span.before, *span.after)):
            before, after = span.before.get(name), span.after.get(name)
            delta, reason = _delta(before, after)
            yield CounterRow(run_id, verdict.cell.id, record.node, name, before, after, delta, reason or span.reason)


def _by_our_clock(job: j.JobCollected, offset: Offset) -> j.JobCollected:
    return job.model_copy(update={"started_at": offset.ours(job.started_at), "ended_at": offset.ours(job.ended_at)})


def _delta(before: float | None, after: float | None) -> tuple[float | None, str | None]:
    if before is None:
        return None, say.counter_appeared()
    if after is None:
        return None, say.counter_gone()
    if after < before:
        return None, say.counter_back()
    return after - before, None


def _note_rows(
    evidence: Evidence,
    verdict: CellVerdict,
    measured: CellMeasurement,
    problems: dict[str, Problem | None],
    gaps: dict[str, SampleGap],
) -> Iterator[NoteRow]:
    """Yield notes about numbers that can't be trusted, remarks of the run, and warnings of the tool, each only once.

    A note about a probe has the probe's job as its origin, so that the store knows which numbers are missing for lack
    of samples.
    """
    cell = verdict.cell
    notes: dict[tuple[str, str], str] = {(gap.severity, gap.text): job for job, gap in gaps.items()}
    for problem in problems.values():
        if problem:
            notes.setdefault(("error", problem), str(cell.origin))
    if measured.problem:
        notes.setdefault(("error", measured.problem), str(cell.origin))
    if measured.sources and (text := measured.together.remark):
        notes["warning", text] = str(cell.origin)
    for record in verdict.counters:
        if record.problem:
            notes["warning", say.counters_problem(host=record.node, said=record.problem)] = str(cell.origin)
    for text in _clock_notes(verdict):
        notes["info", text] = str(cell.origin)
    for text in _unread_clocks(verdict) if measured.sources else ():
        notes["warning", text] = str(cell.origin)
    # A journal of an earlier version has the tool's warnings without their codes, or without the name of the tool.
    warnings = [text for measurement in measured.sources.values() for text in measurement.warnings]
    coded = {known: text for text in warnings for known in (text, text.partition(": ")[2])}
    for remark in evidence.record.remarks.get(cell.id, ()):
        # The text does not name the cell, so that a brief prints a remark on many cells once.
        text = remark.text
        text = str(text.args["what"]) if isinstance(text, Message) and text.code == "in_cell" else text
        notes[remark.severity, coded.get(text, text)] = remark.origin
    for text in warnings:
        notes.setdefault(("warning", text), "")
    for (severity, text), origin in notes.items():
        yield NoteRow(evidence.run_id, cell.id, severity, text, origin)


def _clock_notes(verdict: CellVerdict) -> Iterator[str]:
    """Yield a note on each clock whose error exceeded its uncertainty and was large enough to matter."""
    for clock in verdict.clocks:
        if clock.when == "before" and abs(clock.offset_s) > max(_CLOCK_S, clock.uncertainty_s):
            off = say.clock_ahead if clock.offset_s > 0 else say.clock_behind
            # Errors are rounded, so that a drifting clock does not give each cell a line of its own.
            within = _within(verdict.offset(clock.host).uncertainty_s)
            yield off(host=clock.host, by=_roughly(abs(clock.offset_s)), within=within)


def _unread_clocks(verdict: CellVerdict) -> Iterator[str]:
    """Yield a note on each host whose clock was not read although its times matter, if other clocks were read."""
    cell = verdict.cell
    known = {clock.host for clock in verdict.clocks if clock.when == "before"}
    sampled = (host for probe in cell.probes if probe.on == "node" for host in probe.hosts)
    for host in dict.fromkeys((*cell.load_hosts, *sampled)):
        if known and host not in known:
            yield say.clock_unread(host=host)


def _roughly(seconds: float) -> PrintedNumber:
    """Round to one significant digit and format: 0.0234 becomes `20 ms`, 3605 becomes `4,000 s`."""
    rounded = float(f"{seconds:.0e}")
    return PrintedNumber(rounded, f"{1000 * rounded:g} ms" if rounded < 1 else f"{rounded:,.0f} s")


def _within(seconds: float) -> PrintedNumber:
    """Round up to a power of ten and format: 0.0004 becomes `1 ms`."""
    return _roughly(10 ** max(-3, math.ceil(math.log10(seconds) - 1e-9))) if seconds > 0 else PrintedNumber(0, "0 ms")


def file_rows(run_id: str, verdict: CellVerdict, problems: dict[str, Problem | None]) -> Iterator[FileRow]:
    for job in verdict.jobs:
        for name, sha256 in job.files.items():
            path = f"{job.directory}/{name}"
            yield FileRow(run_id, verdict.cell.id, job.attempt, job.job, job.host, path, sha256, problems[path])

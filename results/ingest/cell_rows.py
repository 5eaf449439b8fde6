"""All rows of one cell except its latencies, which belong to its point."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from benchbrief.compiler.messages.text import Figure, Text
from benchbrief.compiler.planning.plan import Event
from benchbrief.results.ingest.cell_measurement import Measured, parse_cell, throughput_rows
from benchbrief.results.ingest.cell_verdicts import Verdict
from benchbrief.results.ingest.database_sizes import size_rows
from benchbrief.results.ingest.event_rows import event_rows
from benchbrief.results.ingest.probe_samples import Gap, Sampled, read_samples
from benchbrief.results.ingest.run_evidence import Evidence, Problem, check_files
from benchbrief.results.kept_jobs import MEASURE
from benchbrief.results.messages.result_messages import say
from benchbrief.results.samples.window_counters import around_window
from benchbrief.results.store.cell_tables import SteadyRow
from benchbrief.results.store.store_schema import (
    CellRow,
    CounterRow,
    FileRow,
    HistogramBucket,
    NoteRow,
    OperationRow,
    PropertyRow,
    Row,
    utc,
)
from benchbrief.runners.hosts.host_clocks import Offset
from benchbrief.runners.journal import events as j
from benchbrief.runners.journal.run_folder import cell_directory
from benchbrief.runners.measurement.measurement import Histogram
from benchbrief.runners.measurement.mser5 import find_transient
from benchbrief.runners.measurement.steadiness import before_first

_CLOCK_S = 0.01
"""A clock that is less off than this, in seconds, is not reported."""


def cell_rows(evidence: Evidence, verdict: Verdict) -> tuple[Measured, list[Row]]:
    """Return what was measured in a cell, and its rows. A cell that is not ok has no measurement, but a reason."""
    run_id = evidence.run_id
    problems: dict[str, Problem | None] = {}
    for job in verdict.jobs:
        problems |= check_files(evidence.root, job)
    measured = parse_cell(evidence, verdict, problems) if verdict.status == "ok" else Measured({})
    beside = read_samples(evidence, verdict, measured, problems) if measured.sources else Sampled()
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


def cell_row(evidence: Evidence, verdict: Verdict, measured: Measured) -> CellRow:
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


def _steady_rows(evidence: Evidence, verdict: Verdict, measured: Measured) -> Iterator[SteadyRow]:
    rule = evidence.plan.experiments[verdict.cell.experiment].until_steady
    ends = [each.steady for each in measured.sources.values() if each.steady]
    if rule and ends:
        (end,) = ends  # of one load generator
        rules = (rule.within, rule.from_s, verdict.cell.measure_s)
        widths = (end.throughput_half_width, end.throughput_correlation)
        others = (end.latency_half_width, end.latency_correlation)
        place = (evidence.run_id, verdict.cell.id)
        yield SteadyRow(*place, end.steady, *rules, end.lasted_s, end.cut_s, *widths, *others)


def _transient_s(measured: Measured, events: Sequence[Event]) -> float | None:
    """Return the longest transient of any load generator, before the first event of the cell. A load has none that
    could be left out."""
    if measured.load:
        return None
    before = (before_first(events, m.intervals) for m in measured.sources.values())
    found = [each for intervals in before if (each := find_transient(intervals))]
    return max((each.seconds if each.noted else 0.0 for each in found), default=None)


def _operation_rows(run_id: str, verdict: Verdict, measured: Measured) -> Iterator[OperationRow]:
    for source, measurement in measured.sources.items():
        for op in measurement.operations:
            # A tool prints where its counters began for what was never done: 0, or the largest number.
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


def _property_rows(run_id: str, verdict: Verdict, measured: Measured) -> Iterator[PropertyRow]:
    for source, measurement in measured.sources.items():
        properties = dict(measurement.properties)
        if measurement.tool_version:
            properties.setdefault("version", measurement.tool_version)
        for name, value in properties.items():
            yield PropertyRow(run_id, verdict.cell.id, source, name, value)


def _node_rows(evidence: Evidence, verdict: Verdict) -> Iterator[PropertyRow]:
    """Yield the node that a scheduler had given for each host of the cell."""
    history = evidence.record.cells.get(verdict.cell.id)
    started = history.started.get(verdict.attempt) if history and verdict.attempt else None
    for host in verdict.cell.locks if started else ():
        if started and host in started.nodes:
            yield PropertyRow(evidence.run_id, verdict.cell.id, host, "node", started.nodes[host])


def _counter_rows(run_id: str, verdict: Verdict, measured: Measured) -> Iterator[CounterRow]:
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
    verdict: Verdict,
    measured: Measured,
    problems: dict[str, Problem | None],
    gaps: dict[str, Gap],
) -> Iterator[NoteRow]:
    """Yield what can't be trusted, remarks of the run, and warnings of the tool (once, when the journal has them
    too).

    The origin of a note on a probe is its job, so that the store knows which numbers are missing for it.
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
    for remark in evidence.remarks.get(cell.id, ()):
        # Without the cell in its text, so that a brief prints a remark on many cells once.
        text = remark.text
        text = str(text.args["what"]) if isinstance(text, Text) and text.code == "in_cell" else text
        notes[remark.severity, coded.get(text, text)] = remark.origin
    for text in warnings:
        notes.setdefault(("warning", text), "")
    for (severity, text), origin in notes.items():
        yield NoteRow(evidence.run_id, cell.id, severity, text, origin)


def _clock_notes(verdict: Verdict) -> Iterator[str]:
    """Yield a note on each clock that was ahead or behind by more than its uncertainty, and enough to matter."""
    for clock in verdict.clocks:
        if clock.when == "before" and abs(clock.offset_s) > max(_CLOCK_S, clock.uncertainty_s):
            off = say.clock_ahead if clock.offset_s > 0 else say.clock_behind
            # In steps, so that a clock that creeps does not make a line for each cell.
            within = _within(verdict.offset(clock.host).uncertainty_s)
            yield off(host=clock.host, by=_roughly(abs(clock.offset_s)), within=within)


def _unread_clocks(verdict: Verdict) -> Iterator[str]:
    """Yield the unread clocks of hosts whose times count, when other clocks were read."""
    cell = verdict.cell
    known = {clock.host for clock in verdict.clocks if clock.when == "before"}
    sampled = (host for probe in cell.probes if probe.on == "node" for host in probe.hosts)
    for host in dict.fromkeys((*cell.load_hosts, *sampled)):
        if known and host not in known:
            yield say.clock_unread(host=host)


def _roughly(seconds: float) -> Figure:
    """Round to one significant digit: 0.0234 is `20 ms`, 3605 is `4,000 s`."""
    rounded = float(f"{seconds:.0e}")
    return Figure(rounded, f"{1000 * rounded:g} ms" if rounded < 1 else f"{rounded:,.0f} s")


def _within(seconds: float) -> Figure:
    """Round up to a power of ten: 0.0004 is `1 ms`."""
    return _roughly(10 ** max(-3, math.ceil(math.log10(seconds) - 1e-9))) if seconds > 0 else Figure(0, "0 ms")


def file_rows(run_id: str, verdict: Verdict, problems: dict[str, Problem | None]) -> Iterator[FileRow]:
    for job in verdict.jobs:
        for name, sha256 in job.files.items():
            path = f"{job.directory}/{name}"
            yield FileRow(run_id, verdict.cell.id, job.attempt, job.job, job.host, path, sha256, problems[path])

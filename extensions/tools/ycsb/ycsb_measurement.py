"""Converts a YCSB run's text and logs to a measurement: the declared window, its phases, operations and intervals.

The warm-up counts from the first operation. Whatever a process does before that (starting a JVM, connecting, waiting
for a busy machine) does not warm anything up, and must not shorten the measured time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import NoReturn

from benchbrief.extend import histograms as h
from benchbrief.extend.common import BadOutput, Cell, JobOutput, figure
from benchbrief.extend.tools import (
    BeganLate,
    CellContext,
    Interval,
    Measurement,
    Operation,
    PhaseThroughput,
    bad_output,
    best_line,
    judge_window,
    read_output_lines,
    require_consistent,
    require_few_errors,
    transactions,
)
from benchbrief.extensions.tools.ycsb import ycsb_invariants
from benchbrief.extensions.tools.ycsb import ycsb_output as text
from benchbrief.extensions.tools.ycsb import ycsb_properties as properties
from benchbrief.extensions.tools.ycsb.ycsb_output import say

_SNAP_S = 0.25
"""How many seconds early a one-second slice may end."""
_LEAST_SHARE = 0.9
"""The smallest share of the declared time that a window must have."""

Logs = Mapping[str, tuple[text.TimeSlice, ...]]


@dataclass(frozen=True)
class _Window:
    """The measured part of a run. `edges` are the ends of one-second slices; the measurement begins at the first edge.

    The first operation ended `first_s` after the threads' start, and the warm-up lasted `warm_up_s` from there.
    """

    edges: tuple[float, ...]
    first_s: float
    warm_up_s: float

    @property
    def start(self) -> float:
        return self.edges[0]

    @property
    def end(self) -> float:
        return self.edges[-1]


def run_s(cell: Cell) -> int:
    """Return YCSB's `maxexecutiontime` in whole seconds. YCSB counts it from its threads' start, before they connect.

    One second is added to the declared times, because slices begin at the seconds of YCSB's status thread and not at
    the first operation. Two more seconds are added for connecting and loading classes. A slower start shortens the
    measured time, and nine tenths of it must remain. If a tenth of the measured time is less than two seconds, the run
    gets up to two more seconds. So every run has at least four seconds to start, and a long run does not become much
    longer.
    """
    short = max(0.0, 2 - (1 - _LEAST_SHARE) * cell.measure_s)
    return ceil(cell.warm_up_s + cell.measure_s) + 1 + 2 + ceil(short)


def measurement_of_logs(context: CellContext, output: JobOutput, found: text.YcsbText, logs: Logs) -> Measurement:
    """Return the measurement of the declared window. Raises BadOutput if the logs do not prove it."""
    require_consistent(output, "YCSB", ycsb_invariants.find_log_problems(logs, found))
    if mixed := next((row for row in found.rows.values() if row.failed_inside), None):
        raise BadOutput(say.failures_in_logs(row=mixed.name, failed=mixed.failed), say.hint_failures_apart())
    return _measurement(context, output, found, logs, _window(context, output, found, logs))


@dataclass(frozen=True)
class _Tally:
    """Operations between two edges. A read-modify-write is one operation, although YCSB counts it again in READ and
    UPDATE."""

    count: int
    errors: int


def _tally(logs: Logs, start: float, end: float) -> _Tally:
    count, errors = 0, 0
    for name, pieces in logs.items():
        kind = text.operation_of(name)
        if kind is None or name.startswith(text.INTENDED):
            continue
        operation, failed = kind
        number = sum(piece.histogram.count for piece in pieces if start <= piece.middle < end)
        if failed:
            errors += number
        else:
            count += -number if operation == "read_modify_write" else number
    return _Tally(count, errors)


def _window(context: CellContext, output: JobOutput, found: text.YcsbText, logs: Logs) -> _Window:
    cell = context.cell
    of_operations = [pieces for name, pieces in logs.items() if pieces and text.operation_of(name)]
    first = min(pieces[0].start for pieces in of_operations)
    # One thread cuts all logs at the same moments, one after the other. The longest log has all of these.
    longest = max(of_operations, key=len)
    loaded = properties.is_load(context.workload) and _inserted(logs) >= properties.count_own_records(context)
    # A load that finished is measured to its end: its last part of a second is part of the work.
    ends = [piece.end for piece in (_with_operations(longest) if loaded else _whole_slices(longest))]
    run_start = max(pieces[-1].end for pieces in logs.values() if pieces) - found.runtime_s
    # Without a warm-up, the first operation begins the window, although its slice is a part of a second.
    edges = [cut for cut in (first, *ends) if cut >= first + cell.warm_up_s]
    if edges:
        least = cell.measure_s - min(_SNAP_S, (1 - _LEAST_SHARE) * cell.measure_s)
        last = next((cut for cut in edges if cut >= edges[0] + least), edges[-1])
        edges = [cut for cut in edges if cut <= last]
    measured = edges[-1] - edges[0] if edges else 0.0
    limited = loaded or "operations" in context.workload.properties
    if measured <= 0 or (not limited and measured < _LEAST_SHARE * cell.measure_s):
        _refuse(cell, output, found, measured, first - run_start)
    return _Window(tuple(edges), first - run_start, edges[0] - first)


def _with_operations(pieces: tuple[text.TimeSlice, ...]) -> tuple[text.TimeSlice, ...]:
    """Return the slices without the empty ones at the end, during which YCSB disconnects and stops."""
    while pieces and not pieces[-1].histogram.count:
        pieces = pieces[:-1]
    return pieces


def _inserted(logs: Logs) -> int:
    """Return how many records a load has tried to insert."""
    pieces = [piece for name, of_name in logs.items() if name in ("INSERT", "INSERT-FAILED") for piece in of_name]
    return sum(piece.histogram.count for piece in pieces)


def _whole_slices(pieces: tuple[text.TimeSlice, ...]) -> tuple[text.TimeSlice, ...]:
    """Return the slices up to the last full second. Threads end in the few milliseconds after it."""
    while pieces and pieces[-1].end - pieces[-1].start < 0.5:
        pieces = pieces[:-1]
    return pieces


def _refuse(cell: Cell, output: JobOutput, found: text.YcsbText, measured: float, first_s: float) -> NoReturn:
    seconds, wanted = figure(measured, ".1f"), figure(cell.measure_s, "g")
    if found.runtime_s < run_s(cell) - 1:
        end, said = figure(found.runtime_s, ".1f"), best_line(output)
        early = say.ycsb_ended_early(seconds=seconds, wanted=wanted, end=end, said=said)
        raise bad_output(output, early, say.hint_operations())
    raise BeganLate(
        say.ycsb_began_late(seconds=seconds, wanted=wanted, first=figure(first_s, ".1f")),
        say.hint_busy(),
    )


def _measurement(
    context: CellContext, output: JobOutput, found: text.YcsbText, logs: Logs, window: _Window
) -> Measurement:
    spans = [(None, window.start, window.end), *_phases(context, window)]
    throughput = []
    operations = []
    for phase, start, end in spans:
        tally = _tally(logs, start, end)
        seconds = end - start
        throughput.append(PhaseThroughput(phase, tally.count, tally.errors, seconds, tally.count / seconds))
        operations += read_logged_operations(logs, phase, start, end)
    total = throughput[0]
    # An operation that hung in the window fails after it, at its time-out. Those failures count too.
    for tally in (_tally(logs, window.start, window.end), _tally(logs, window.start, float("inf"))):
        require_few_errors(output, "YCSB", tally.errors, tally.count, context.experiment.max_error_share)
    if total.count <= 0:
        raise bad_output(output, say.no_operations_measured(said=best_line(output)))
    intervals = tuple(
        Interval(
            start - window.start,
            end - start,
            _tally(logs, start, end).count,
            _p99(logs, start, end) if context.cell.events else None,
        )
        for start, end in pairwise(window.edges)
    )
    remedy = say.hint_longer() if properties.is_load(context.workload) else say.remedy_warm_up()
    unsteady, judged = judge_window(intervals, remedy, context.cell.events)
    return Measurement(
        window=(window.start, window.end),
        throughput=tuple(throughput),
        operations=tuple(operations),
        intervals=intervals,
        warnings=(*found.warnings, *unsteady),
        tool_version=_version(output),
        tool_s=found.runtime_s,
        properties=tuple({**_disclosed(context, logs, window), **judged}.items()),
    )


def _phases(context: CellContext, window: _Window) -> list[tuple[int, float, float]]:
    """Return (phase, start, end), each cut at the nearest slice. Returns nothing if there is only one phase. Raises
    BadOutput if phases are shorter than slices."""
    count = context.cell.phases
    if count == 1:
        return []
    step = (window.end - window.start) / count
    cuts = [min(window.edges, key=lambda edge, due=window.start + i * step: abs(edge - due)) for i in range(count + 1)]  # type: ignore[misc]  # mypy can't infer a lambda with defaults
    spans = [(i + 1, cuts[i], cuts[i + 1]) for i in range(count)]
    if any(start >= end for _, start, end in spans):
        raise BadOutput(say.short_phases(n=count, seconds=figure(step, ".2f")), say.hint_phases())
    return spans


def _p99(logs: Logs, start: float, end: float) -> float | None:
    """Return the 99th percentile over all operations. It counts from their due times if YCSB knows them."""
    done = [each for each in read_logged_operations(logs, None, start, end) if each.histogram and each.count]
    kind = "intended" if any(each.kind == "intended" for each in done) else "service"
    counted = [each for each in done if each.kind == kind and each.operation != "read_modify_write"]
    merged = h.merge(each.histogram for each in counted if each.histogram)
    return h.percentile(merged, 99.0) if merged.count else None


def read_logged_operations(logs: Logs, phase: int | None, start: float, end: float) -> list[Operation]:
    """Return the operations in slices whose middle is between two times in epoch seconds."""
    errors: dict[str, int] = {}
    for name, pieces in logs.items():
        operation, failed = text.operation_of(name) or ("", False)
        if failed and not name.startswith(text.INTENDED):
            counted = sum(piece.histogram.count for piece in pieces if start <= piece.middle < end)
            errors[operation] = errors.get(operation, 0) + counted
    done = []
    for name, pieces in logs.items():
        operation, failed = text.operation_of(name) or ("", True)
        merged = h.merge(piece.histogram for piece in pieces if start <= piece.middle < end)
        if failed:
            continue
        intended = name.startswith(text.INTENDED)
        done.append(
            Operation(
                operation=operation,
                count=merged.count,
                errors=0 if intended else errors.pop(operation, 0),
                mean_s=h.mean(merged) if merged.buckets else None,
                min_s=merged.buckets[0].lo if merged.buckets else None,
                max_s=merged.buckets[-1].hi if merged.buckets else None,
                histogram=merged,
                kind="intended" if intended else "service",
                phase=phase,
                in_total=operation != "read_modify_write" and not intended,
            )
        )
    # An operation that always failed has no log of successes.
    done += [Operation(operation=name, count=0, errors=number, phase=phase) for name, number in errors.items()]
    return done


def _disclosed(context: CellContext, logs: Logs, window: _Window) -> dict[str, str]:
    both = any(name.startswith(text.INTENDED) for name in logs)
    percentiles = {
        "latency": say.latency_both() if both else say.latency_service(),
        "measurement.interval": "both" if both else "op",
        "loop": say.loop_open() if context.cell.target else say.loop_closed(),
        "percentiles": say.percentiles_ycsb(),
        "start": say.first_operation(seconds=figure(window.first_s, ".1f")),
        "warm-up": say.warm_up_cut_off(seconds=figure(window.warm_up_s, ".1f")),
    }
    if properties.is_load(context.workload):
        ended = _inserted(logs) >= properties.count_own_records(context)
        percentiles["load"] = say.load_last() if ended else say.load_left()
    if any(text.operation_of(name) == ("read_modify_write", False) for name in logs):
        percentiles["throughput"] = say.read_modify_write()
    if properties.operation_count(context) != properties.MOST_OPERATIONS:
        percentiles["operationcount"] = str(properties.operation_count(context))
    return percentiles


def measurement_of_rows(context: CellContext, output: JobOutput, found: text.YcsbText) -> Measurement:
    """Return the measurement from the rows of a version of YCSB without HDR logs (before 0.5). Its numbers cover the
    whole run."""
    if context.cell.warm_up_s or context.cell.phases > 1:
        raise BadOutput(
            say.no_logs(),
            say.hint_ycsb(),
        )
    operations = read_row_operations(found)
    errors = sum(operation.errors for operation in operations)
    count = transactions(operations)
    require_few_errors(output, "YCSB", errors, count, context.experiment.max_error_share)
    if count <= 0:
        raise bad_output(output, say.no_operations(tool="YCSB", said=best_line(output)))
    seconds = found.runtime_s
    return Measurement(
        window=(output.ended_at - seconds, output.ended_at),
        throughput=(PhaseThroughput(None, count, errors, seconds, count / seconds),),
        operations=operations,
        warnings=found.warnings,
        tool_version=_version(output),
        properties=(
            ("latency", say.latency_service()),
            (
                "percentiles",
                say.percentiles_buckets()
                if all(operation.histogram for operation in operations)
                else say.percentiles_printed(),
            ),
            ("window", say.whole_run_start()),
            *found.failures,
        ),
    )


def read_row_operations(found: text.YcsbText) -> tuple[Operation, ...]:
    """Return the operations in the rows of a whole run. The return codes show how many of them failed."""
    rows = [row for name, row in found.rows.items() if not (text.operation_of(name) or ("", True))[1]]
    return tuple(
        Operation(
            operation=text.OPERATIONS[row.name.removeprefix(text.INTENDED)],
            count=row.ok if row.ok is not None else row.count,
            errors=row.failed or 0,
            mean_s=row.mean_s,
            min_s=row.min_s,
            max_s=row.max_s,
            histogram=row.histogram,
            printed=() if row.histogram else row.printed,
            kind="intended" if row.name.startswith(text.INTENDED) else "service",
            in_total=row.name != "READ-MODIFY-WRITE" and not row.name.startswith(text.INTENDED),
        )
        for row in rows
    )


def _version(output: JobOutput) -> str:
    """Return YCSB's name and version. They are on standard output up to 0.1.4, and on standard error in later
    versions."""
    found = (text.version(read_output_lines(path)) for path in (output.stderr, output.stdout))
    return f"YCSB {next(filter(None, found), '')}".strip()

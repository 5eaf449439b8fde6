"""A YCSB run's text and logs turned into a measurement: the declared window, its phases, operations and intervals.

The warm-up is counted from the first operation: what a process does before it (starting a JVM, connecting, waiting
for a busy machine) warms nothing up, and must take nothing from the measured time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import NoReturn

from benchbrief.compiler.plan import Cell
from benchbrief.runners import histogram as h
from benchbrief.runners.contexts import CellContext
from benchbrief.runners.drivers import ycsb_output as text
from benchbrief.runners.drivers import ycsb_properties as properties
from benchbrief.runners.drivers.evidence import bad, lines, require_few_errors
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.measurement import Interval, Measurement, Operation, PhaseThroughput
from benchbrief.runners.steady import MEASURE, WARM_UP, judged
from benchbrief.runners.tasks import JobOutput

_SNAP_S = 0.25
"""How far before the second it stands for the end of a one-second slice may be."""
_LEAST_SHARE = 0.9
"""A window shorter than this share of the declared time is not what was asked for."""
_COUNT_TOLERANCE = 0.01

Logs = Mapping[str, tuple[text.Slice, ...]]


@dataclass(frozen=True)
class _Window:
    """The measured part: `edges` are the ends of one-second slices, the first of them where the measurement begins.

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
    """YCSB's `maxexecutiontime` in whole seconds, which it counts from its threads' start, before they connect.

    Beside the declared times it holds one second, as slices begin at the status thread's seconds and not at the first
    operation, and two for connecting and loading classes. A slower start is taken from the end of the measured time,
    which has to be there to nine tenths: short runs, whose last tenth is less than two seconds, get those on top. So a
    start of four seconds is borne by every run, and a long run is not made much longer.
    """
    short = max(0.0, 2 - (1 - _LEAST_SHARE) * cell.measure_s)
    return ceil(cell.warm_up_s + cell.measure_s) + 1 + 2 + ceil(short)


def from_logs(context: CellContext, output: JobOutput, found: text.Text, logs: Logs) -> Measurement:
    """What was measured in the declared window. Raises BadOutput when the logs do not prove it."""
    _cross_check(context, output, found, logs)
    return _measurement(context, output, found, logs, _window(context, output, found, logs))


@dataclass(frozen=True)
class _Tally:
    """Operations between two edges. A read-modify-write is one operation, though READ and UPDATE count it again."""

    count: int
    errors: int


def _cross_check(context: CellContext, output: JobOutput, found: text.Text, logs: Logs) -> None:
    """The logs must hold all that YCSB counted. Raises BadOutput: a log cut short would be a wrong number."""
    for name, row in found.rows.items():
        logged = sum(piece.histogram.count for piece in logs.get(name, ()))
        if logged != row.count:
            raise BadOutput(
                f"YCSB counted {row.count} operations in [{name}], and its histogram log holds {logged}",
                f"was a disk full? see {output.directory}",
            )
    rows = [(name, pieces) for name, pieces in logs.items() if not name.startswith(text.INTENDED)]
    tally = _tally(dict(rows), float("-inf"), float("inf"))
    said = found.overall["Throughput(ops/sec)"] * found.runtime_s
    if abs(tally.count + tally.errors - said) > max(_COUNT_TOLERANCE * said, 2 * context.threads + 2):
        raise BadOutput(
            f"YCSB did {said:.0f} operations by [OVERALL], and {tally.count + tally.errors} by its histogram logs",
            f"see {output.directory}",
        )


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


def _window(context: CellContext, output: JobOutput, found: text.Text, logs: Logs) -> _Window:
    cell = context.cell
    of_operations = [pieces for name, pieces in logs.items() if pieces and text.operation_of(name)]
    first = min(pieces[0].start for pieces in of_operations)
    # All logs are cut at the same moments (by one thread, one after the other): the longest one names them.
    longest = max(of_operations, key=len)
    loaded = properties.is_load(context.workload) and _inserted(logs) >= properties.own_records(context)
    # A load that came to its end is measured to its end: its last part of a second is a part of the work.
    ends = [piece.end for piece in (_with_operations(longest) if loaded else _whole_slices(longest))]
    run_start = max(pieces[-1].end for pieces in logs.values() if pieces) - found.runtime_s
    # Without a warm-up, the first operation begins the window, though the slice that it is in is a part of a second.
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


def _with_operations(pieces: tuple[text.Slice, ...]) -> tuple[text.Slice, ...]:
    """Without the last ones in which nothing was done: YCSB disconnects, and ends."""
    while pieces and not pieces[-1].histogram.count:
        pieces = pieces[:-1]
    return pieces


def _inserted(logs: Logs) -> int:
    """Records that a load has dealt with: well or not."""
    pieces = [piece for name, of_name in logs.items() if name in ("INSERT", "INSERT-FAILED") for piece in of_name]
    return sum(piece.histogram.count for piece in pieces)


def _whole_slices(pieces: tuple[text.Slice, ...]) -> tuple[text.Slice, ...]:
    """Without the last ones, from the last full second to the end: a few milliseconds of threads winding down."""
    while pieces and pieces[-1].end - pieces[-1].start < 0.5:
        pieces = pieces[:-1]
    return pieces


def _refuse(cell: Cell, output: JobOutput, found: text.Text, measured: float, first_s: float) -> NoReturn:
    said = f"YCSB measured {measured:.1f} s of {cell.measure_s:g} s"
    if found.runtime_s < run_s(cell) - 1:
        raise bad(
            output,
            f"{said}: it ended after {found.runtime_s:.1f} s",
            "did it run out of operations? declare more `operations`",
        )
    raise BadOutput(
        f"{said}: its first operation came {first_s:.1f} s after its threads' start",
        "the machine or the server is too busy: run less beside it, or give a longer `measure`",
    )


def _measurement(context: CellContext, output: JobOutput, found: text.Text, logs: Logs, window: _Window) -> Measurement:
    spans = [(None, window.start, window.end), *_phases(context, window)]
    throughput = []
    operations = []
    for phase, start, end in spans:
        tally = _tally(logs, start, end)
        seconds = end - start
        throughput.append(PhaseThroughput(phase, tally.count, tally.errors, seconds, tally.count / seconds))
        operations += logged_operations(logs, phase, start, end)
    total = throughput[0]
    # An operation that hung in the window fails after it, when its time-out is over: those failures count too.
    for tally in (_tally(logs, window.start, window.end), _tally(logs, window.start, float("inf"))):
        require_few_errors(output, "YCSB", tally.errors, tally.count, context.experiment.max_error_share)
    if total.count <= 0:
        raise bad(output, "YCSB did no operations in the measured window")
    intervals = tuple(
        Interval(start - window.start, end - start, _tally(logs, start, end).count)
        for start, end in pairwise(window.edges)
    )
    unsteady, told = judged(intervals, MEASURE if properties.is_load(context.workload) else WARM_UP)
    return Measurement(
        window=(window.start, window.end),
        throughput=tuple(throughput),
        operations=tuple(operations),
        intervals=intervals,
        warnings=(*found.warnings, *unsteady),
        tool_version=_version(output),
        properties=tuple({**_disclosed(context, logs, window), **told}.items()),
    )


def _phases(context: CellContext, window: _Window) -> list[tuple[int, float, float]]:
    """(phase, start, end), each cut at the nearest slice. Raises BadOutput when phases are shorter than slices."""
    count = context.cell.phases
    if count == 1:
        return []
    step = (window.end - window.start) / count
    cuts = [min(window.edges, key=lambda edge, due=window.start + i * step: abs(edge - due)) for i in range(count + 1)]  # type: ignore[misc]  # mypy can't infer a lambda with defaults
    spans = [(i + 1, cuts[i], cuts[i + 1]) for i in range(count)]
    if any(start >= end for _, start, end in spans):
        raise BadOutput(
            f"{count} phases of {step:.2f} s are too short: YCSB reports by the second", "declare longer phases"
        )
    return spans


def logged_operations(logs: Logs, phase: int | None, start: float, end: float) -> list[Operation]:
    """Of the slices whose middle lies between two epoch seconds."""
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
    # An operation that only ever failed has no log of successes.
    done += [Operation(operation=name, count=0, errors=number, phase=phase) for name, number in errors.items()]
    return done


def _disclosed(context: CellContext, logs: Logs, window: _Window) -> dict[str, str]:
    both = any(name.startswith(text.INTENDED) for name in logs)
    told = {
        "latency": "service and intended" if both else "service",
        "measurement.interval": "both" if both else "op",
        "loop": "open, closed when it falls behind" if context.cell.target else "closed",
        "percentiles": "from merged HDR histograms of three digits",
        "start": f"the first operation ended {window.first_s:.1f} s after the threads' start",
        "warm-up": f"{window.warm_up_s:.1f} s from the first operation were cut off",
    }
    if properties.is_load(context.workload):
        ended = _inserted(logs) >= properties.own_records(context)
        told["load"] = "to its last record" if ended else "for the measured time: records were left"
    if any(text.operation_of(name) == ("read_modify_write", False) for name in logs):
        told["throughput"] = "a read-modify-write is one operation"
    if properties.operation_count(context) != properties.MOST_OPERATIONS:
        told["operationcount"] = str(properties.operation_count(context))
    return told


def from_rows(context: CellContext, output: JobOutput, found: text.Text) -> Measurement:
    """A YCSB without HDR logs (before 0.5) has numbers of the whole run only."""
    if context.cell.warm_up_s or context.cell.phases > 1:
        raise BadOutput(
            "this YCSB wrote no histogram logs, so neither a warm-up nor phases can be told apart",
            "use YCSB 0.17, or declare neither `warm_up` nor `phases`",
        )
    operations = row_operations(found)
    errors = sum(operation.errors for operation in operations)
    count = transactions(operations)
    require_few_errors(output, "YCSB", errors, count, context.experiment.max_error_share)
    if count <= 0:
        raise bad(output, "YCSB did no operations")
    seconds = found.runtime_s
    return Measurement(
        window=(output.ended_at - seconds, output.ended_at),
        throughput=(PhaseThroughput(None, count, errors, seconds, count / seconds),),
        operations=operations,
        warnings=found.warnings,
        tool_version=_version(output),
        properties=(
            ("latency", "service"),
            (
                "percentiles",
                "interpolated in YCSB's buckets of 1 ms"
                if all(operation.histogram for operation in operations)
                else "as printed by YCSB: they can't be merged with others",
            ),
            ("window", "the whole run, with the threads' start"),
        ),
    )


def row_operations(found: text.Text) -> tuple[Operation, ...]:
    """Of the rows of a whole run. Those of failures are counted by the return codes of their operation."""
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


def transactions(operations: Iterable[Operation]) -> int:
    """How many were done: a read-modify-write is one, though READ and UPDATE count it again."""
    kept = tuple(operations)
    again = sum(each.count for each in kept if each.operation == "read_modify_write" and each.kind == "service")
    return sum(each.count for each in kept if each.in_total) - again


def _version(output: JobOutput) -> str:
    """On standard error; up to 0.1.4 on standard output."""
    return f"YCSB {text.version(lines(output.stderr)) or text.version(lines(output.stdout))}".strip()

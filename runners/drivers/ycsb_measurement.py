"""A YCSB run's text and logs turned into a measurement: the declared window, its phases, operations and intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from benchbrief.runners import histogram as h
from benchbrief.runners.drivers import ycsb_output as text
from benchbrief.runners.drivers import ycsb_properties as properties
from benchbrief.runners.drivers.evidence import bad, lines, require_few_errors
from benchbrief.runners.measurement import Interval, Measurement, Operation, PhaseThroughput
from benchbrief.runners.seams import BadOutput, CellContext, JobOutput

_SNAP_S = 0.25
"""How far the end of a one-second slice may be from the second it stands for."""
_SHORT_S = 1.5
"""By how much a window of whole slices may fall short of the declared time, at the least."""
_COUNT_TOLERANCE = 0.01

Logs = Mapping[str, tuple[text.Slice, ...]]


@dataclass(frozen=True)
class _Window:
    """The measured part: `edges` are the ends of one-second slices, the first of them where the measurement begins.

    `cut_s` of the process were cut off before it. `late`: the warm-up was over when the first operation came.
    """

    edges: tuple[float, ...]
    cut_s: float
    late: bool

    @property
    def start(self) -> float:
        return self.edges[0]

    @property
    def end(self) -> float:
        return self.edges[-1]


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
    if abs(tally.count + tally.errors - said) > max(_COUNT_TOLERANCE * said, 2 * context.cell.threads + 2):
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
    # All logs are cut at the same moments (by one thread, one after the other): the longest one names them.
    reference = max((pieces for name, pieces in logs.items() if text.operation_of(name)), key=len)
    # The last slice, from the last full second to the end, is a few milliseconds of threads winding down.
    pieces = [piece for piece in reference if piece.end - piece.start >= 0.5]
    run_start = max(pieces[-1].end for pieces in logs.values() if pieces) - found.runtime_s
    cuts = [pieces[0].start, *(piece.end for piece in pieces)] if pieces else []
    # Without a warm-up, the first operation: connecting, which comes before it, is not the server's throughput.
    due = run_start + cell.warm_up_s - _SNAP_S if cell.warm_up_s else float("-inf")
    start = next((cut for cut in cuts if cut >= due), None)
    edges = [] if start is None else [cut for cut in cuts if start <= cut <= start + cell.measure_s + _SNAP_S]
    measured = edges[-1] - edges[0] if len(edges) > 1 else 0.0
    limited = "operations" in context.workload.properties
    if (
        start is None
        or measured <= 0
        or (not limited and measured < cell.measure_s - max(_SHORT_S, 0.05 * cell.measure_s))
    ):
        ended = f"YCSB measured {measured:.1f} s of {cell.measure_s:g} s"
        if found.runtime_s < cell.warm_up_s + cell.measure_s - _SHORT_S:
            raise bad(
                output,
                f"{ended}: it ended after {found.runtime_s:.1f} s",
                "did it run out of operations? declare more `operations`",
            )
        raise bad(output, ended)
    late = bool(cell.warm_up_s) and start == cuts[0]
    return _Window(tuple(edges), start - run_start, late)


def _measurement(context: CellContext, output: JobOutput, found: text.Text, logs: Logs, window: _Window) -> Measurement:
    spans = [(None, window.start, window.end), *_phases(context, window)]
    throughput = []
    operations = []
    for phase, start, end in spans:
        tally = _tally(logs, start, end)
        seconds = end - start
        throughput.append(PhaseThroughput(phase, tally.count, tally.errors, seconds, tally.count / seconds))
        operations += _operations(logs, phase, start, end)
    total = throughput[0]
    # An operation that hung in the window fails after it, when its time-out is over: those failures count too.
    failed = _tally(logs, window.start, float("inf")).errors
    require_few_errors(output, "YCSB", failed, total.count, context.experiment.max_error_share)
    if total.count <= 0:
        raise bad(output, "YCSB did no operations in the measured window")
    return Measurement(
        window=(window.start, window.end),
        throughput=tuple(throughput),
        operations=tuple(operations),
        intervals=tuple(
            Interval(start - window.start, end - start, _tally(logs, start, end).count)
            for start, end in pairwise(window.edges)
        ),
        warnings=(*found.warnings, *_remarks(context, window)),
        tool_version=_version(output),
        properties=tuple(_disclosed(context, logs, window).items()),
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


def _operations(logs: Logs, phase: int | None, start: float, end: float) -> list[Operation]:
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


def _remarks(context: CellContext, window: _Window) -> tuple[str, ...]:
    if not window.late:
        return ()
    text = (
        f"YCSB's first operation came {window.cut_s:.1f} s after its start, so its {context.cell.warm_up_s:g} s of "
        "warm-up warmed nothing up: declare a longer one"
    )
    return (text,)


def _disclosed(context: CellContext, logs: Logs, window: _Window) -> dict[str, str]:
    both = any(name.startswith(text.INTENDED) for name in logs)
    told = {
        "latency": "service and intended" if both else "service",
        "measurement.interval": "both" if both else "op",
        "loop": "open, closed when it falls behind" if context.cell.target else "closed",
        "percentiles": "from merged HDR histograms of three digits",
        "warm-up": f"the first {window.cut_s:.1f} s of the process were cut off",
    }
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
    rows = [row for name, row in found.rows.items() if not (text.operation_of(name) or ("", True))[1]]
    failed = {row.name: row.failed or 0 for row in rows}
    errors = sum(failed.values())
    operations = [
        Operation(
            operation=text.OPERATIONS[row.name.removeprefix(text.INTENDED)],
            count=row.ok if row.ok is not None else row.count,
            errors=failed[row.name],
            mean_s=row.mean_s,
            min_s=row.min_s,
            max_s=row.max_s,
            histogram=row.histogram,
            printed=() if row.histogram else row.printed,
            kind="intended" if row.name.startswith(text.INTENDED) else "service",
            in_total=row.name != "READ-MODIFY-WRITE" and not row.name.startswith(text.INTENDED),
        )
        for row in rows
    ]
    again = sum(operation.count for operation in operations if operation.operation == "read_modify_write")
    count = sum(operation.count for operation in operations if operation.in_total) - again
    require_few_errors(output, "YCSB", errors, count, context.experiment.max_error_share)
    if count <= 0:
        raise bad(output, "YCSB did no operations")
    seconds = found.runtime_s
    return Measurement(
        window=(output.ended_at - seconds, output.ended_at),
        throughput=(PhaseThroughput(None, count, errors, seconds, count / seconds),),
        operations=tuple(operations),
        warnings=found.warnings,
        tool_version=_version(output),
        properties=(
            ("latency", "service"),
            (
                "percentiles",
                "interpolated in YCSB's buckets of 1 ms"
                if all(row.histogram for row in rows)
                else "as printed by YCSB: they can't be merged with others",
            ),
            ("window", "the whole run, with the threads' start"),
        ),
    )


def _version(output: JobOutput) -> str:
    """On standard error; up to 0.1.4 on standard output."""
    return f"YCSB {text.version(lines(output.stderr)) or text.version(lines(output.stdout))}".strip()

"""The measurement in one load generator's HDR logs, which may lie beside an output with the same operations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchbrief.model.measurement import Interval, Measurement, Operation, PhaseThroughput
from benchbrief.model.message import word
from benchbrief.results.imports.import_problems import BadLine
from benchbrief.results.imports.imported_files import OutputProblem, refuse_no_text, whole_run
from benchbrief.results.imports.importers.hdr import hdr_logs
from benchbrief.results.result_messages import say
from benchbrief.runners.drivers.ycsb import ycsb_log_invariants, ycsb_output
from benchbrief.runners.drivers.ycsb.ycsb_measurement import read_logged_operations, transactions

_Logs = Mapping[str, Sequence[ycsb_output.Slice]]


def read_logs(
    files: Mapping[str, Path], unit_s: float
) -> tuple[dict[str, tuple[ycsb_output.Slice, ...]], dict[str, str]]:
    """Return the intervals by YCSB's names of their rows, and the file of each."""
    found: dict[str, tuple[ycsb_output.Slice, ...]] = {}
    read_from: dict[str, str] = {}
    for name, path in files.items():
        refuse_no_text(name, path)
        try:
            for operation, slices in hdr_logs.read(path, Path(name).stem, unit_s).items():
                if operation in found:
                    raise OutputProblem(name, None, f"a second log of {operation}")
                found[operation], read_from[operation] = slices, name
        except BadLine as error:
            hint = "copy the log again, or move all logs of this output away: then what YCSB printed is taken"
            raise OutputProblem(name, error.line, str(error), hint) from error
    return found, read_from


def require_fitting(files: Mapping[str, str], problems: Sequence[ycsb_log_invariants.LogProblem]) -> None:
    """Compare the logs with each other. `files` are by YCSB's names of their rows. Raises OutputProblem, at the log
    of the first problem."""
    if problems:
        name = files.get(problems[0].log) or min(files.values())
        raise OutputProblem(name, None, problems[0], "give all logs that YCSB wrote of this run, whole, or none")


def read_hdr(files: Mapping[str, Path], unit_s: float) -> Measurement:
    """Read HDR logs. `unit_s` is the unit of their values. Raises OutputProblem."""
    logs, read_from = read_logs(files, unit_s)
    whole = [piece for pieces in logs.values() for piece in pieces]
    if not whole:
        raise OutputProblem(min(files), None, "no interval of an operation in it")
    require_fitting(read_from, ycsb_log_invariants.find_log_problems(logs))
    operations = tuple(read_logged_operations(logs, None, float("-inf"), float("inf")))
    start, end = min(piece.start for piece in whole), max(piece.end for piece in whole)
    count, errors = transactions(operations), sum(operation.errors for operation in operations)
    if end <= start or count <= 0:
        raise OutputProblem(min(files), None, "no operation was done, or its intervals have no length")
    properties = (("latency", latency_kinds(operations)), ("percentiles", say.percentiles_merged()), whole_run())
    return Measurement(
        window=(start, end),
        throughput=(PhaseThroughput(None, count, errors, end - start, count / (end - start)),),
        operations=operations,
        intervals=intervals(logs, start),
        properties=properties,
    )


def intervals(logs: _Logs, start: float) -> tuple[Interval, ...]:
    """Return the slices of the longest log, when all logs have the same ones."""
    whole = [
        pieces for name, pieces in logs.items() if pieces and (ycsb_output.operation_of(name) or ("", True))[1] is False
    ]
    if not whole:
        return ()
    longest = max(whole, key=len)
    counts = {(piece.start, piece.end): 0 for piece in longest}
    for name, pieces in logs.items():
        kind = ycsb_output.operation_of(name)
        if kind is None or kind[1] or name.startswith(ycsb_output.INTENDED):
            continue
        for piece in pieces:
            near = min(counts, key=lambda span, at=piece.middle: abs((span[0] + span[1]) / 2 - at))  # type: ignore[misc]  # mypy can't infer a lambda with defaults
            counts[near] += -piece.histogram.count if kind[0] == "read_modify_write" else piece.histogram.count
    return tuple(Interval(a - start, b - a, count) for (a, b), count in counts.items() if b > a)


def latency_kinds(operations: Iterable[Operation], *, is_known: bool = False) -> str:
    """Return the kinds of latencies. Service time must be `is_known`: YCSB gives intended latencies the same names
    with `measurement.interval=intended`."""
    kinds = {each.kind for each in operations}
    if kinds <= {"service"} and not is_known:
        return say.latency_unknown()
    return say.latency_both() if len(kinds) > 1 else word(f"latency_{next(iter(kinds), 'service')}")

"""Imports HdrHistogram's interval logs (https://hdrhistogram.github.io/HdrHistogram/).

A file covers one operation, or several operations distinguished by tags. Logs may be imported alone, or together with
an output that has the same operations.

    #[StartTime: 1700000000.000 (seconds since epoch),
    ...] "StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
    Tag=READ,0.127,1.007,2.769,HISTFAAAAE54nJN...

The values have no unit: YCSB writes microseconds, most other programs write nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchbrief.extend.common import BadOutput, word
from benchbrief.extend.histograms import scaled
from benchbrief.extend.importers import BadLine, Options, OutputImporter, OutputProblem, refuse_no_text, whole_run
from benchbrief.extend.tools import Interval, Measurement, Operation, PhaseThroughput, read_output_lines, transactions
from benchbrief.extensions.tools.ycsb import ycsb_invariants, ycsb_output
from benchbrief.extensions.tools.ycsb.ycsb_measurement import read_logged_operations
from benchbrief.extensions.tools.ycsb.ycsb_output import (
    OPERATIONS,
    TimeSlice,
    line_of_log,
    log_start,
    operation_of,
    say,
)

HDR = ".hdr"
OTHERS = ("CLEANUP", "Intended-CLEANUP")
"""Rows for which YCSB writes a log although they are not operations."""
_ROWS = {ours: row for row, ours in OPERATIONS.items()}


def read(path: Path, name: str, unit_s: float = 1e-6) -> dict[str, tuple[TimeSlice, ...]]:
    """Return the time slices of each operation, by YCSB's names. Raises BadLine.

    Lines without a tag belong to the operation `name`. Logs that are not about operations, such as YCSB's CLEANUP, are
    left out.
    """
    found: dict[str, list[TimeSlice]] = {}
    base, number, logged = 0.0, 0, False
    try:
        for number, line in enumerate(read_output_lines(path), start=1):
            start = log_start(line)
            base = base if start is None else start
            logged |= start is not None or line.startswith(('"StartTimestamp"', "#[Histogram log format"))
            if line[:1] in ("#", '"', "") or start is not None:
                continue
            tag, piece = line_of_log(line, base)
            row = _row(tag or name, number)
            found.setdefault(row, []).append(TimeSlice(piece.start, piece.end, scaled(piece.histogram, unit_s / 1e-6)))
    except BadOutput as error:
        raise BadLine(None, str(error)) from error
    except ValueError as error:
        what = "" if logged or found else ", and not a log of histograms at all"
        raise BadLine(number, f"{error}{what}") from error
    if not logged and not found:
        raise BadLine(None, "not a log of histograms: it has no line of `start,length,max,payload`")
    return {row: tuple(slices) for row, slices in found.items() if operation_of(row)}


def _row(name: str, line: int) -> str:
    """Return YCSB's name for an operation that is named as in YCSB or benchbrief. Raises BadLine for any other name."""
    row = _ROWS.get(name.lower().replace("-", "_"), name)
    if operation_of(row) is None and row not in OTHERS:
        known = ", ".join(_ROWS)
        raise BadLine(line, f"`{name}` is no operation; these are {known}")
    return row


def row_of(path: Path) -> str:
    """Return the operation in a log's name, such as `READ` for `t8-READ.hdr`, or the full name if it does not end with
    an operation."""
    return split(path.stem)[1] or path.stem


def split(stem: str) -> tuple[str, str]:
    """Split a name into a prefix and the YCSB row at its end, or "" if no row is at its end."""
    at = next((at for at in range(len(stem)) if stem[at:] in OTHERS or operation_of(stem[at:])), len(stem))
    return stem[:at], stem[at:]


_Logs = Mapping[str, Sequence[ycsb_output.TimeSlice]]


def read_logs(
    files: Mapping[str, Path], unit_s: float
) -> tuple[dict[str, tuple[ycsb_output.TimeSlice, ...]], dict[str, str]]:
    """Return the time slices by YCSB's row names, and the file of each row."""
    found: dict[str, tuple[ycsb_output.TimeSlice, ...]] = {}
    read_from: dict[str, str] = {}
    for name, path in files.items():
        refuse_no_text(name, path)
        try:
            for operation, slices in read(path, Path(name).stem, unit_s).items():
                if operation in found:
                    raise OutputProblem(name, None, f"a second log of {operation}")
                found[operation], read_from[operation] = slices, name
        except BadLine as error:
            hint = "copy the log again, or move all logs of this output away: then what YCSB printed is taken"
            raise OutputProblem(name, error.line, str(error), hint) from error
    return found, read_from


def require_fitting(files: Mapping[str, str], problems: Sequence[ycsb_invariants.LogProblem]) -> None:
    """Raise OutputProblem for the first contradiction between logs, naming the log concerned.

    `files` maps YCSB's row names to the names of their logs.
    """
    if problems:
        name = files.get(problems[0].log) or min(files.values())
        raise OutputProblem(name, None, problems[0], "give all logs that YCSB wrote of this run, whole, or none")


def read_hdr(files: Mapping[str, Path], unit_s: float) -> Measurement:
    """Read HDR logs. `unit_s` is the unit of the logged values, in seconds. Raises OutputProblem."""
    logs, read_from = read_logs(files, unit_s)
    whole = [piece for pieces in logs.values() for piece in pieces]
    if not whole:
        raise OutputProblem(min(files), None, "no interval of an operation in it")
    require_fitting(read_from, ycsb_invariants.find_log_problems(logs))
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
    """Return how many operations ended in each time slice of the longest log. Times count from `start`.

    Operations in the slices of other logs are added to the nearest slice. Failed operations and intended latencies do
    not count.
    """
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
    """Return the kinds of the latencies as text. Calls them service times only if `is_known` is set, since YCSB gives
    intended latencies the same names with `measurement.interval=intended`."""
    kinds = {each.kind for each in operations}
    if kinds <= {"service"} and not is_known:
        return say.latency_unknown()
    return say.latency_both() if len(kinds) > 1 else word(f"latency_{next(iter(kinds), 'service')}")


_UNITS_S = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}


class HdrImporter(OutputImporter):
    def read(self, files: Mapping[str, Path], benchmark: str, options: Options) -> Measurement:
        return read_hdr(files, _UNITS_S[str(options.get("unit", "us"))])

    def kept_name(self, path: Path, said: Mapping[str, str]) -> str:
        return f"{said.get('operation') or row_of(path)}{HDR}"

"""A finished output of YCSB -> what was measured: its rows, its histogram logs, its raw latencies.

Logs and raw latencies can be read alone, too. All files that are there are checked against each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from benchbrief.model.measurement import Measurement, Operation, PhaseThroughput
from benchbrief.results.imports.import_problems import BadLine
from benchbrief.results.imports.imported_files import (
    HDR,
    OutputProblem,
    ends_whole,
    line_count,
    read_lines,
    require_consistent,
    tool_that_wrote,
    whole_run,
)
from benchbrief.results.imports.importers.hdr.hdr_measurement import (
    intervals,
    latency_kinds,
    read_hdr,
    read_logs,
    require_fitting,
)
from benchbrief.results.imports.importers.property_settings import disclosed
from benchbrief.results.imports.importers.ycsb import raw_latencies
from benchbrief.results.imports.importers.ycsb.spec import SPEC
from benchbrief.results.imports.importers.ycsb.ycsb_command_line import has_interval, of_command_line
from benchbrief.results.result_messages import say
from benchbrief.runners.drivers.ycsb import ycsb_invariants, ycsb_log_invariants, ycsb_output
from benchbrief.runners.drivers.ycsb.ycsb_measurement import read_logged_operations, read_row_operations, transactions
from benchbrief.runners.drivers.ycsb.ycsb_messages import say as say_ycsb

_LINE = re.compile(SPEC.line)
_INTERVAL = "measurement.interval"
_TOLERANCE = 0.02
"""How far the operations in rows may be from those of [OVERALL], as a share. Beyond it, the output was cut."""
_OVERALL = re.compile(r"\s*\[OVERALL\]\s*,\s*Throughput")
_COUNTED = re.compile(r"\s*\[(?!(?:Hdr|Intended-)?CLEANUP|Bucket|Raw)([^\]]+)\]\s*,\s*Operations\s*,\s*[1-9]")


def read_ycsb(files: Mapping[str, Path]) -> Measurement:
    """Read an output. `files` are by the names under which they are kept. Raises OutputProblem."""
    logs = {name: path for name, path in files.items() if name.endswith(HDR)}
    raw = {name: path for name, path in files.items() if name not in logs and raw_latencies.is_raw(path)}
    texts = {name: path for name, path in files.items() if name not in logs and name not in raw}
    for kind in (raw, texts):
        if len(kind) > 1:
            raise OutputProblem(sorted(kind)[1], None, "a second output of YCSB for one cell and load generator")
    if raw:
        ((name, path),) = raw.items()
        return _raw(name, path, texts)
    if not texts:
        return read_hdr(logs, 1e-6)
    ((name, path),) = texts.items()
    return _output(name, path, logs)


def _output(name: str, path: Path, logs: Mapping[str, Path]) -> Measurement:
    text, found = _rows(name, path)
    intended = _only_intended(name, text, found)
    seconds = found.runtime_s
    rows = read_row_operations(found)
    kept, files = read_logs(logs, 1e-6)
    if kept:
        require_fitting(files, ycsb_log_invariants.find_log_problems(kept, found))
        logged = read_logged_operations(kept, None, float("-inf"), float("inf"))
        operations: tuple[Operation, ...] = tuple(_with_failures_inside(each, found) for each in logged)
        start = min(pieces[0].start for pieces in kept.values() if pieces)
    else:
        operations, start = rows, 0.0
    if intended:
        operations = tuple(replace(each, kind="intended") for each in operations)
    count, errors = transactions(rows), sum(operation.errors for operation in rows)
    return Measurement(
        window=(start, start + seconds),
        throughput=(PhaseThroughput(None, count, errors, seconds, count / seconds),),
        operations=operations,
        intervals=intervals(kept, start),
        warnings=found.warnings,
        tool_version=f"YCSB {ycsb_output.version(text)}".strip(),
        properties=(
            ("latency", latency_kinds(operations, is_known=has_interval(text))),
            ("percentiles", _percentiles_from(rows, found, logged=bool(kept))),
            whole_run(),
            *found.failures,
            *disclosed(of_command_line(text)),
        ),
    )


def _with_failures_inside(logged: Operation, found: ycsb_output.Text) -> Operation:
    """Return an operation of a log with the counts of its row, where the log has failures among its latencies."""
    rows = (row for row in found.rows.values() if ycsb_output.operation_of(row.name) == (logged.operation, False))
    mixed = next((row for row in rows if row.failed_inside), None)
    if mixed is None or logged.kind == "intended":
        return logged
    return replace(logged, count=mixed.ok or 0, errors=mixed.failed_inside)


def _percentiles_from(rows: Iterable[Operation], found: ycsb_output.Text, *, logged: bool) -> str:
    by_ms = any(row.by_ms for row in found.rows.values())
    if logged:
        return say.percentiles_merged()
    if all(each.histogram for each in rows):
        ms = say_ycsb.percentiles_buckets_ms()
        return ms if by_ms else say.percentiles_hdr()
    return say_ycsb.percentiles_printed_ms() if by_ms else say_ycsb.percentiles_printed()


def _only_intended(name: str, text: Sequence[str], found: ycsb_output.Text) -> bool:
    """Return whether rows with plain names are intended latencies, as with `measurement.interval=intended`.

    Raises OutputProblem when the command line contradicts the rows.
    """
    said = of_command_line(text).get(_INTERVAL)
    both = any(row.startswith(ycsb_output.INTENDED) for row in found.rows)
    if said is None or said.value not in ("op", "intended", "both"):
        return False
    if both != (said.value == "both"):
        have = "rows of both kinds (Intended-READ)" if both else "rows of one kind alone"
        raise OutputProblem(name, said.line, f"it was run with {said.text}, and has {have}")
    return said.value == "intended"


def read_rows(name: str, path: Path) -> ycsb_output.Text:
    """Return what YCSB printed of each operation. Raises OutputProblem."""
    return _rows(name, path)[1]


def _rows(name: str, path: Path) -> tuple[list[str], ycsb_output.Text]:
    text, whole = _row_lines(name, path)
    found = _proven(name, text, whole=whole)
    said = of_command_line(text).get("threadcount")
    threads = str(said.value) if said else ""
    at_once = int(threads) if threads.isdecimal() and len(threads) < 7 else None
    intended = _only_intended(name, text, found)
    require_consistent(name, ycsb_invariants.find_problems(found, at_once, intended=intended))
    return text, found


def _row_lines(name: str, path: Path) -> tuple[list[str], bool]:
    """Return an output's rows, also of a JSON exporter, and whether its end is complete. Raises OutputProblem."""
    text = read_lines(name, path)
    whole = "\n".join(text)
    if not ycsb_output.is_json(whole):
        return text, ends_whole(path)
    rows = ycsb_output.rows_of_json(whole)
    if rows is None:
        raise OutputProblem(name, len(text), "cut: the last object of its JSON is not whole")
    return rows, True


def _proven(name: str, text: Sequence[str], *, whole: bool) -> ycsb_output.Text:
    """Return all rows. Raises OutputProblem for an output that is cut, mixed, or not YCSB's."""
    overall = [number for number, line in enumerate(text, start=1) if _OVERALL.match(line)]
    if not any(_LINE.match(line) for line in text):
        problem = "not an output of YCSB: it has no row such as `[OVERALL], RunTime(ms), ...`"
        raise OutputProblem(name, None, problem, tool_that_wrote(text))
    if len(overall) > 1:
        hint = "give each run a file of its own"
        raise OutputProblem(name, overall[1], "a second run of YCSB begins here", hint)
    found = ycsb_output.read_text(text)
    lacking = [key for key in ("RunTime(ms)", "Throughput(ops/sec)") if not found.overall.get(key)]
    if lacking:
        raise OutputProblem(name, len(text), _without(lacking, found))
    if not whole:
        raise OutputProblem(name, len(text), "cut in its last line")
    operations = read_row_operations(found)
    total = transactions(operations) + sum(operation.errors for operation in operations)
    said = found.overall["Throughput(ops/sec)"] * found.runtime_s
    if abs(total - said) > max(_TOLERANCE * abs(said), 2):
        counted = (
            f"{said:.0f} operations by its [OVERALL] block (Throughput x RunTime), {total} by the rows of operations"
        )
        others = dict.fromkeys(match[1] for line in text if (match := _COUNTED.match(line)))
        unknown = [row for row in others if ycsb_output.operation_of(row.removeprefix("Hdr")) is None]
        why = "it is cut, or one of these numbers was changed"
        if unknown and total < said:
            why = f"of what it did besides ({', '.join(unknown)}), nothing is known here"
        raise OutputProblem(name, None, f"{counted}: {why}")
    if total <= 0:
        raise OutputProblem(name, None, "no operation was done")
    return found


def _without(lacking: Sequence[str], found: ycsb_output.Text) -> str:
    """Say why the run's time or rate is unknown: the row is missing, or it has no number."""
    overall = found.cells.get("OVERALL", {})
    there = next((key for key in lacking if key in overall), None)
    if there is not None:
        return f"its [OVERALL] block has {there} = {overall[there]}, which says nothing"
    return f"its [OVERALL] block has no {' and no '.join(lacking)}: it is cut, or a row was taken out"


# --- raw latencies -----------------------------------------------------------------------------------------------


def _raw(name: str, path: Path, texts: Mapping[str, Path]) -> Measurement:
    if not ends_whole(path):
        raise OutputProblem(name, line_count(path), "cut in its last line")
    beside = [line for other, each in texts.items() for line in read_lines(other, each)]
    try:
        return raw_latencies.read(path, beside)
    except BadLine as error:
        raise OutputProblem(name, error.line, str(error), error.hint) from error

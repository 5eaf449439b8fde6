"""Imports YCSB's outputs, and the histogram logs that belong to them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from benchbrief.extend import histograms as h
from benchbrief.extend.common import Cell, Plan
from benchbrief.extend.importers import (
    STDOUT,
    WRONG_CELL,
    BadLine,
    CellFiles,
    ImportProblem,
    Options,
    OutputImporter,
    OutputProblem,
    Places,
    Setting,
    Where,
    ends_whole,
    find_files,
    line_count,
    read_lines,
    refuse_contradictions,
    tool_that_wrote,
    whole_run,
)
from benchbrief.extend.tools import Histogram, Measurement, Operation, PhaseThroughput, read_output_lines, transactions
from benchbrief.extensions.importers.hdr import hdr_importer
from benchbrief.extensions.importers.hdr.hdr_importer import (
    HDR,
    intervals,
    latency_kinds,
    read_hdr,
    read_logs,
    require_fitting,
    row_of,
    split,
)
from benchbrief.extensions.importers.ycsb import raw_latencies
from benchbrief.extensions.importers.ycsb.raw_latencies import is_raw
from benchbrief.extensions.importers.ycsb.spec import SPEC as IMPORTER
from benchbrief.extensions.importers.ycsb.ycsb_command_line import (
    HEAD,
    command_line,
    disclosed,
    has_interval,
    of_command_line,
    planned,
)
from benchbrief.extensions.tools.ycsb import ycsb_invariants, ycsb_output
from benchbrief.extensions.tools.ycsb.spec import SPEC
from benchbrief.extensions.tools.ycsb.ycsb_invariants import check_against_row
from benchbrief.extensions.tools.ycsb.ycsb_measurement import read_logged_operations, read_row_operations
from benchbrief.extensions.tools.ycsb.ycsb_output import YcsbRow, YcsbText, operation_of, say

_LINE = re.compile(IMPORTER.line)
_INTERVAL = "measurement.interval"
_TOLERANCE = 0.02
"""How far the number of operations in the rows may differ from the [OVERALL] count, as a share. A larger difference
means that the output was cut."""
_OVERALL = re.compile(r"\s*\[OVERALL\]\s*,\s*Throughput")
_COUNTED = re.compile(r"\s*\[(?!(?:Hdr|Intended-)?CLEANUP|Bucket|Raw)([^\]]+)\]\s*,\s*Operations\s*,\s*[1-9]")


def read_ycsb(files: Mapping[str, Path]) -> Measurement:
    """Read an output. `files` maps the names of the kept files to their paths. Raises OutputProblem."""
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
        require_fitting(files, ycsb_invariants.find_log_problems(kept, found))
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


def _with_failures_inside(logged: Operation, found: ycsb_output.YcsbText) -> Operation:
    """Return a log's operation. If failures are among the log's latencies, the counts are taken from YCSB's row."""
    rows = (row for row in found.rows.values() if ycsb_output.operation_of(row.name) == (logged.operation, False))
    mixed = next((row for row in rows if row.failed_inside), None)
    if mixed is None or logged.kind == "intended":
        return logged
    return replace(logged, count=mixed.ok or 0, errors=mixed.failed_inside)


def _percentiles_from(rows: Iterable[Operation], found: ycsb_output.YcsbText, *, logged: bool) -> str:
    by_ms = any(row.by_ms for row in found.rows.values())
    if logged:
        return say.percentiles_merged()
    if all(each.histogram for each in rows):
        ms = say.percentiles_buckets_ms()
        return ms if by_ms else say.percentiles_hdr()
    return say.percentiles_printed_ms() if by_ms else say.percentiles_printed()


def _only_intended(name: str, text: Sequence[str], found: ycsb_output.YcsbText) -> bool:
    """Return whether rows with plain names hold intended latencies, as they do with `measurement.interval=intended`.

    Raises OutputProblem if the command line contradicts the rows.
    """
    said = of_command_line(text).get(_INTERVAL)
    both = any(row.startswith(ycsb_output.INTENDED) for row in found.rows)
    if said is None or said.value not in ("op", "intended", "both"):
        return False
    if both != (said.value == "both"):
        have = "rows of both kinds (Intended-READ)" if both else "rows of one kind alone"
        raise OutputProblem(name, said.line, f"it was run with {said.text}, and has {have}")
    return said.value == "intended"


def read_rows(name: str, path: Path) -> ycsb_output.YcsbText:
    """Return the rows that YCSB printed for each operation. Raises OutputProblem."""
    return _rows(name, path)[1]


def _rows(name: str, path: Path) -> tuple[list[str], ycsb_output.YcsbText]:
    text, whole = _row_lines(name, path)
    found = _proven(name, text, whole=whole)
    said = of_command_line(text).get("threadcount")
    threads = str(said.value) if said else ""
    at_once = int(threads) if threads.isdecimal() and len(threads) < 7 else None
    intended = _only_intended(name, text, found)
    refuse_contradictions(name, ycsb_invariants.find_problems(found, at_once, intended=intended))
    return text, found


def _row_lines(name: str, path: Path) -> tuple[list[str], bool]:
    """Return an output's rows (converted from JSON if necessary), and whether the output is complete. Raises
    OutputProblem."""
    text = read_lines(name, path)
    whole = "\n".join(text)
    if not ycsb_output.is_json(whole):
        return text, ends_whole(path)
    rows = ycsb_output.rows_of_json(whole)
    if rows is None:
        raise OutputProblem(name, len(text), "cut: the last object of its JSON is not whole")
    return rows, True


def _proven(name: str, text: Sequence[str], *, whole: bool) -> ycsb_output.YcsbText:
    """Return all of YCSB's rows. Raises OutputProblem for an output that is cut, mixed, or not from YCSB."""
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


def _without(lacking: Sequence[str], found: ycsb_output.YcsbText) -> str:
    """Return the reason why the run's time or rate is unknown: a row is missing or has no number."""
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


class _Damaged(Exception):
    """Raised for a log that can't be read."""


@dataclass(frozen=True)
class OwnLogs:
    """The logs of an output. `files` maps YCSB's rows to logs. `remark` describes missing logs, or is "" if none is
    missing."""

    files: Mapping[str, Path]
    remark: str = ""


def logs_of(outputs: Iterable[Path], given: Collection[Path]) -> dict[Path, OwnLogs]:
    """Return the logs that lie in the outputs' folders. `given` are files that the user assigned to another output.

    An unreadable output gets no logs here; the problem is reported when the output is read later. A damaged log is
    assigned to the output beside it if there are no other logs, so that the damage is reported when the log is read
    later.
    """
    logged: dict[Path, Histogram] = {}
    found: dict[Path, OwnLogs] = {}
    for output in outputs:
        try:
            found[output] = _logs_of(output, given, logged)
        except OutputProblem:
            continue
    claims = Counter(path for each in found.values() for path in each.files.values())
    for output, each in found.items():
        if any(claims[path] > 1 for path in each.files.values()):
            some = min(each.files.values()).name
            found[output] = OwnLogs({}, f"{some} and the other logs beside it fit another output as well: not taken")
    return found


def _logs_of(output: Path, given: Collection[Path], logged: dict[Path, Histogram]) -> OwnLogs:
    text = read_rows(output.name, output)
    rows = [row for row in text.rows.values() if row.count]
    sets: dict[str, dict[str, Path]] = {}
    for path in sorted(output.parent.glob(f"*{HDR}")):
        before, row = split(path.stem)
        if operation_of(row) and path not in given:
            sets.setdefault(before, {})[row] = path
    against: dict[str, str] = {}
    damaged: list[str] = []
    for before, paths in sets.items():
        try:
            against[before] = _against(rows, paths, logged)
        except _Damaged as why:
            against[before] = str(why)
            damaged.append(before)
    own = [before for before, why in against.items() if not why]
    if not own and damaged == list(sets):
        own = damaged[:1]  # its reader says which line is damaged
    if len(own) == 1:
        return OwnLogs({row: path for row, path in sets[own[0]].items() if row in text.rows})
    return OwnLogs({}, _remark(output, text, against, own))


def _remark(output: Path, text: YcsbText, against: Mapping[str, str], own: Sequence[str]) -> str:
    if own:
        why = f"several sets of histogram logs beside it fit ({', '.join(f'{before}*{HDR}' for before in own)})"
    elif against:
        # Of several outputs' logs in one folder, name those with the output's prefix.
        named = [before for before in against if before and output.name.startswith(before.rstrip("-_."))]
        why = f"the histogram logs beside it are not of it: {against[max(named, default=min(against))]}"
    else:
        why = "no histogram logs are beside it"
    lost = [row for name, row in text.rows.items() if row.count and not row.histogram and not operation_failed(name)]
    if not lost:
        return f"{why}; its percentiles are from its own buckets" if against else ""
    zero = ", ".join(f"[{row.name}]" for row in lost if row.zeros)
    remark = f"{why}; only the percentiles that YCSB printed are known"
    return remark + (f", and not those of {zero} that it printed as 0" if zero else "")


def operation_failed(row: str) -> bool:
    kind = operation_of(row)
    return kind is not None and kind[1]


def _against(rows: Sequence[YcsbRow], paths: Mapping[str, Path], logged: dict[Path, Histogram]) -> str:
    """Return why logs do not belong to an output's rows, or "" if they do. Raises _Damaged if a log is unreadable."""
    for row in rows:
        path = paths.get(row.name)
        if path is None:
            return f"there is {min(paths.values()).name}, and none of [{row.name}]"
        try:
            log = logged[path] if path in logged else logged.setdefault(path, _read(path, row.name))
        except (BadLine, OSError) as error:
            line = getattr(error, "line", None)
            raise _Damaged(f"{path.name}{f':{line}' if line else ''}: {error}") from error
        if log.count != row.count:
            return f"it has {row.count} operations in [{row.name}], and {path.name} has {log.count}"
        if why := next(check_against_row(row, log, path.name), ""):
            return why
    return ""


def _read(path: Path, row: str) -> Histogram:
    """Return the histogram of one row's operations over a whole log. Raises BadLine."""
    return h.merge(piece.histogram for piece in hdr_importer.read(path, row).get(row, ()))


class YcsbImporter(OutputImporter):
    def read(self, files: Mapping[str, Path], benchmark: str, options: Options) -> Measurement:
        return read_ycsb(files)

    def settings(self, path: Path) -> Mapping[str, Setting]:
        return planned(of_command_line(islice(read_output_lines(path), HEAD)))

    def contradictions(self, path: Path, cell: Cell, plan: Plan) -> Iterator[ImportProblem]:
        """Yield a problem if the output is of the wrong phase, if a stock workload's settings differ from the cell's,
        or if the number of threads differs."""
        yield from _other_threads(path, cell)
        command, workload = command_line(islice(read_output_lines(path), HEAD)), plan.workload_of(cell)
        if command.phase and command.phase != workload.phase:
            problem = f"it was run with {command.phase_word}, and workload {workload.name} is a {workload.phase}"
            yield ImportProblem(str(path), command.line, problem, WRONG_CELL)
        elif workload.phase == "run" and command.stock not in ("", workload.benchmark):
            said = self.settings(path)
            for name, value in SPEC.workloads[command.stock].settings.items():
                has = workload.properties.get(name, 0.0)
                if name not in said and has != value:
                    problem = f"it was run with -P {command.files[-1]}, where {name} is {value}"
                    where = f"workload {workload.name} ({workload.family}.{workload.benchmark}) has {name} = {has}"
                    yield ImportProblem(str(path), command.line, f"{problem}, and {where}", WRONG_CELL)
                    return

    def kept_name(self, path: Path, said: Mapping[str, str]) -> str:
        if path.suffix == HDR:
            return f"{said.get('operation') or row_of(path)}{HDR}"
        return "raw" if is_raw(path) else STDOUT

    def may_repeat(self, name: str) -> bool:
        """Return whether the file is a histogram log. Such a file may repeat another one, since the logs of operations
        that never ran all have the same content."""
        return name.endswith(HDR)

    def outputs_of(self, path: Path, paths: Sequence[Path]) -> Sequence[Path]:
        """Return the outputs in a log's folder. If some are named after the log's prefix, return only those."""
        if path.suffix != HDR:
            return ()
        near = [other for other in paths if other.parent == path.parent and other.suffix != HDR]
        before = split(path.stem)[0].rstrip("-_.")
        return [other for other in near if other.stem == before] or near

    def complete(
        self, cells: Mapping[str, CellFiles], paths: Sequence[Path], places: Places, where: Where
    ) -> Iterator[ImportProblem]:
        if pattern := str(where.options.get("logs", "")):
            yield from self._add_named_logs(pattern, cells, places, where)
        else:
            _add_own_logs(cells.values(), paths)

    def _add_named_logs(
        self, pattern: str, cells: Mapping[str, CellFiles], places: Places, where: Where
    ) -> Iterator[ImportProblem]:
        """Add the histogram logs whose paths the user gave."""
        found = list(find_files(pattern, HDR, places, where))
        if not found:
            yield ImportProblem(pattern, None, f"no log ({HDR}) has such a path")
        for path, said, cell in found:
            if isinstance(cell, ImportProblem):
                yield cell
                continue
            files = cells[cell.id].files.get(said.get("host") or cell.load_hosts[0]) if cell.id in cells else None
            if files is None:
                continue  # a log of a cell that is not imported
            name = self.kept_name(path, said)
            if name in files:
                text = f"of the same cell and operation as {files[name]}: {cell.id}"
                yield ImportProblem(str(path), None, text, "tell load generators apart by {host} in --logs")
            files.setdefault(name, path)


def _other_threads(path: Path, cell: Cell) -> Iterator[ImportProblem]:
    """Yield a problem if the number of threads that closed their connections differs from the cell's.

    Fewer threads run if some fail to connect, or if there are fewer operations than threads.
    """
    if path.suffix == HDR or is_raw(path) or cell.threads is None or cell.threads_from is not None:
        return
    closed, wanted = read_rows(path.name, path).cleanups, cell.threads / len(cell.load_hosts)
    words = command_line(islice(read_output_lines(path), HEAD)).words
    twice = not words or any("hbase" in word.lower() for word in words)
    if closed and closed != wanted and not (twice and closed == 2 * wanted):
        number = next((n for n, line in enumerate(read_output_lines(path), 1) if "CLEANUP]" in line), None)
        text = f"{closed} client threads ran ([CLEANUP], Operations), and cell {cell.id} has threads = {cell.threads}"
        yield ImportProblem(str(path), number, text, WRONG_CELL)


def _add_own_logs(cells: Iterable[CellFiles], paths: Sequence[Path]) -> None:
    """Add the histogram logs that lie beside the outputs and belong to them. Skips cells whose logs the user gave."""
    outputs = [
        (of, host, files[STDOUT])
        for of in cells
        for host, files in of.files.items()
        if STDOUT in files and not any(name.endswith(HDR) for name in files)
    ]
    found = logs_of([path for _, _, path in outputs], set(paths))
    for of, host, path in outputs:
        if own := found.get(path):
            of.files[host] |= {f"{row}{HDR}": log for row, log in own.files.items()}
            of.remarks[host] = own.remark

"""A finished output of a tool -> what was measured, whatever wrote it and wherever that was.

Nothing is known here but the files. So the measured time is the whole run, which a warm-up may be a part of, and its
place in time is known only where a file has time stamps.
"""

from __future__ import annotations

import math
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchbrief.results.imports import hdr_logs, raw_latencies
from benchbrief.results.imports.spreadsheets import packed
from benchbrief.runners.drivers import db_bench_output, go_ycsb, go_ycsb_output, ycsb_output
from benchbrief.runners.drivers.evidence import lines
from benchbrief.runners.drivers.ycsb_measurement import logged_operations, row_operations, transactions
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.measurement import Interval, Measurement, Operation, PhaseThroughput

KINDS = ("ycsb", "go-ycsb", "db_bench", "hdr")
HDR = ".hdr"
_WHOLE = ("window", "the whole run: what of it was a warm-up is not known")
_TOLERANCE = 0.02
"""YCSB prints its throughput over a time that is a little longer than that of its operations."""
_OVERALL = re.compile(r"\[OVERALL\], Throughput")
_YCSB = re.compile(r"\[[A-Z][^\]]*\], |YCSB Client ")
_COUNTED = re.compile(r"\[(?!CLEANUP|HdrCLEANUP|Bucket|Raw)([^\]]+)\], Operations, [1-9]")
_FINISHED = re.compile(r"Run finished, takes ((?:[\d.]+[a-zµ]+)+)")
_GO_TIME = re.compile(r"([\d.]+)([a-zµ]+)")
_GO_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6}
"""As Go prints a duration: 8m59.035740975s."""
_HEADLINE = re.compile(r"([a-z]\w*)\s*:\s+[\d.]+ micros/op")

_OWN_LINES = {"ycsb": _YCSB, "go-ycsb": _FINISHED, "db_bench": _HEADLINE, "hdr": re.compile('"StartTimestamp"')}


class OutputProblem(Exception):
    """What is wrong with the file that is kept as `name`; `line` is None where it is the file as a whole."""

    def __init__(self, name: str, line: int | None, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.name, self.line, self.hint = name, line, hint


def read_output(kind: str, files: Mapping[str, Path], benchmark: str, unit_s: float = 1e-6) -> Measurement:
    """`files` by the names that they are kept under; `benchmark` is that of the workload, in its tool's words.

    `unit_s` is the unit of the values in HDR logs. Raises OutputProblem.
    """
    if kind == "ycsb":
        return _ycsb(files)
    if kind == "hdr":
        return _hdr(files, unit_s)
    if len(files) > 1:
        raise OutputProblem(sorted(files)[1], None, f"a second output of {kind} for one cell and load generator")
    ((name, path),) = files.items()
    return _go_ycsb(name, path) if kind == "go-ycsb" else _db_bench(name, path, benchmark)


def _lines(name: str, path: Path) -> list[str]:
    """Raises OutputProblem for a file that can't be a tool's."""
    refuse_no_text(name, path)
    try:
        return list(lines(path))
    except BadOutput as error:
        raise OutputProblem(name, None, str(error)) from error


def refuse_no_text(name: str, path: Path) -> None:
    """Raises OutputProblem for a file that is missing, empty, packed, or not in a tool's own encoding."""
    try:
        problem = packed(path)
        with path.open("rb") as file:
            begin = file.read(2)
    except OSError as error:
        raise OutputProblem(name, None, f"can't be read: {error.strerror}") from error
    if problem is not None:
        raise OutputProblem(name, None, str(problem), problem.hint)
    if begin in (BOM_UTF16_LE, BOM_UTF16_BE):
        hint = f"make it one in UTF-8: iconv -f UTF-16 -t UTF-8 {path.name}; PowerShell's `>` writes UTF-16"
        raise OutputProblem(name, None, "a text in UTF-16, which no tool writes", hint)
    if not begin:
        raise OutputProblem(name, None, "empty: was the tool's output written elsewhere?")


def _of_another_tool(text: Sequence[str]) -> str:
    """What to do with an output that is not of the tool that was named."""
    found = next((kind for kind, own in _OWN_LINES.items() if any(own.match(line) for line in text)), None)
    return f"it looks like one of `bench import {found}`" if found else ""


# --- YCSB --------------------------------------------------------------------------------------------------------


def _ycsb(files: Mapping[str, Path]) -> Measurement:
    logs = {name: path for name, path in files.items() if name.endswith(HDR)}
    raw = {name: path for name, path in files.items() if name not in logs and raw_latencies.is_raw(path)}
    texts = {name: path for name, path in files.items() if name not in logs and name not in raw}
    for kind in (raw, texts):
        if len(kind) > 1:
            raise OutputProblem(sorted(kind)[1], None, "a second output of YCSB for one cell and load generator")
    if raw:
        ((name, path),) = raw.items()
        if not _ends_whole(path):
            raise OutputProblem(name, _line_count(path), "cut in its last line")
        try:
            return raw_latencies.read(path)
        except raw_latencies.BadLine as error:
            raise OutputProblem(name, error.line, str(error), error.hint) from error
    if not texts:
        return _hdr(logs, 1e-6)
    ((name, path),) = texts.items()
    text, found = _ycsb_rows(name, path)
    seconds = found.runtime_s
    rows = row_operations(found)
    kept = _logs(logs, 1e-6)
    if kept:
        _same_counts(logs, found, kept)
        operations: tuple[Operation, ...] = tuple(logged_operations(kept, None, float("-inf"), float("inf")))
        start = min(pieces[0].start for pieces in kept.values() if pieces)
    else:
        operations, start = rows, 0.0
    count, errors = transactions(rows), sum(operation.errors for operation in rows)
    by_ms = any(row.by_ms for row in found.rows.values())
    if kept:
        how = "from merged HDR histograms"
    elif all(each.histogram for each in rows):
        how = (
            "interpolated in YCSB's buckets of 1 ms, each of which is known to 1 ms" if by_ms else "from HDR histograms"
        )
    else:
        how = "as printed by YCSB: they can't be merged with others"
        how += ", and are lower ends of buckets of 1 ms" if by_ms else ""
    version = ycsb_output.version(text)
    return Measurement(
        window=(start, start + seconds),
        throughput=(PhaseThroughput(None, count, errors, seconds, count / seconds),),
        operations=operations,
        intervals=_intervals(kept, start),
        warnings=found.warnings,
        tool_version=f"YCSB {version}".strip(),
        properties=(("latency", "service"), ("percentiles", how), _WHOLE),
    )


def read_rows(name: str, path: Path) -> ycsb_output.Text:
    """What YCSB printed of each operation. Raises OutputProblem."""
    return _ycsb_rows(name, path)[1]


def _ycsb_rows(name: str, path: Path) -> tuple[list[str], ycsb_output.Text]:
    text, ends_whole = _ycsb_lines(name, path)
    return text, _ycsb_text(name, text, ends_whole=ends_whole)


def _ycsb_lines(name: str, path: Path) -> tuple[list[str], bool]:
    """The rows of an output, also of a JSON exporter's, and whether its end is whole. Raises OutputProblem."""
    text = _lines(name, path)
    whole = "\n".join(text)
    if not ycsb_output.is_json(whole):
        return text, _ends_whole(path)
    rows = ycsb_output.rows_of_json(whole)
    if rows is None:
        raise OutputProblem(name, len(text), "cut: the last object of its JSON is not whole")
    return rows, True


def _ycsb_text(name: str, text: Sequence[str], *, ends_whole: bool) -> ycsb_output.Text:
    """Its rows, when all are there. Raises OutputProblem for what is cut, mixed, or not of YCSB."""
    overall = [number for number, line in enumerate(text, start=1) if _OVERALL.match(line)]
    if not any(_YCSB.match(line) for line in text):
        told = "not an output of YCSB: it has no row such as `[OVERALL], RunTime(ms), ...`"
        raise OutputProblem(name, None, told, _of_another_tool(text))
    if len(overall) > 1:
        hint = "give each run a file of its own"
        raise OutputProblem(name, overall[1], "a second run of YCSB begins here", hint)
    found = ycsb_output.read_text(text)
    lacking = [key for key in ("RunTime(ms)", "Throughput(ops/sec)") if not found.overall.get(key)]
    if lacking:
        raise OutputProblem(name, len(text), f"cut: its [OVERALL] block has no {' and no '.join(lacking)}")
    if not ends_whole:
        raise OutputProblem(name, len(text), "cut in its last line")
    operations = row_operations(found)
    total = transactions(operations) + sum(operation.errors for operation in operations)
    said = found.overall["Throughput(ops/sec)"] * found.runtime_s
    if abs(total - said) > max(_TOLERANCE * said, 2):
        text_said = f"cut: {said:.0f} operations by its [OVERALL] block, {total} by the rows of its operations"
        others = dict.fromkeys(match[1] for line in text if (match := _COUNTED.match(line)))
        unknown = [row for row in others if ycsb_output.operation_of(row.removeprefix("Hdr")) is None]
        if unknown:
            text_said = f"{text_said[5:]}; of what it did besides ({', '.join(unknown)}), nothing is known here"
        raise OutputProblem(name, len(text), text_said)
    if total <= 0:
        raise OutputProblem(name, None, "no operation was done")
    return found


def _same_counts(
    files: Mapping[str, Path], found: ycsb_output.Text, logs: Mapping[str, Sequence[ycsb_output.Slice]]
) -> None:
    """`files` by the names that they are kept under. Raises OutputProblem where a row has other logs, or none."""
    for row in found.rows.values():
        logged = sum(piece.histogram.count for piece in logs.get(row.name, ()))
        if logged == row.count:
            continue
        name = next((each for each in files if Path(each).stem == row.name), min(files))
        if row.name in logs:
            told = f"{row.count} operations in [{row.name}], and {logged} in its histogram log: not of one run, or cut"
            raise OutputProblem(name, None, told)
        told = f"of the output's {row.count} operations in [{row.name}] there is no histogram log beside this one"
        raise OutputProblem(name, None, told, "give all logs that YCSB wrote, or none")


def _ends_whole(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(0, 2)
        if file.tell() == 0:
            return False
        file.seek(-1, 2)
        return file.read() in (b"\n", b"\r")


def _line_count(path: Path) -> int:
    with path.open("rb") as file:
        return 1 + sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))


# --- HDR logs ----------------------------------------------------------------------------------------------------


def _logs(files: Mapping[str, Path], unit_s: float) -> dict[str, tuple[ycsb_output.Slice, ...]]:
    found: dict[str, tuple[ycsb_output.Slice, ...]] = {}
    for name, path in files.items():
        refuse_no_text(name, path)
        try:
            for operation, slices in hdr_logs.read(path, Path(name).stem, unit_s).items():
                if operation in found:
                    raise OutputProblem(name, None, f"a second log of {operation}")
                found[operation] = slices
        except hdr_logs.BadLine as error:
            raise OutputProblem(name, error.line, str(error)) from error
    return found


def _hdr(files: Mapping[str, Path], unit_s: float) -> Measurement:
    logs = _logs(files, unit_s)
    whole = [piece for pieces in logs.values() for piece in pieces]
    if not whole:
        raise OutputProblem(min(files), None, "no interval of an operation in it")
    operations = tuple(logged_operations(logs, None, float("-inf"), float("inf")))
    start, end = min(piece.start for piece in whole), max(piece.end for piece in whole)
    count, errors = transactions(operations), sum(operation.errors for operation in operations)
    if end <= start or count <= 0:
        raise OutputProblem(min(files), None, "no operation was done, or its intervals have no length")
    properties = (("latency", "service"), ("percentiles", "from merged HDR histograms"), _WHOLE)
    return Measurement(
        window=(start, end),
        throughput=(PhaseThroughput(None, count, errors, end - start, count / (end - start)),),
        operations=operations,
        intervals=_intervals(logs, start),
        properties=properties,
    )


def _intervals(logs: Mapping[str, Sequence[ycsb_output.Slice]], start: float) -> tuple[Interval, ...]:
    """The slices of the longest log, when all logs have the same ones."""
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


# --- go-ycsb and db_bench ----------------------------------------------------------------------------------------


def _go_ycsb(name: str, path: Path) -> Measurement:
    text = _lines(name, path)
    finished = [number for number, line in enumerate(text, start=1) if line.startswith("Run finished, takes")]
    if len(finished) > 1:
        raise OutputProblem(name, finished[1], "a second run of go-ycsb ends here", "give each run a file of its own")
    found = go_ycsb_output.read(text)
    if not finished and not found.interim:
        told = "not an output of go-ycsb in its plain style: it has no row such as `READ - Takes(s): ...`"
        raise OutputProblem(name, None, told, _of_another_tool(text))
    count, seconds = _go_ycsb_total(name, text, found)
    failed = {row: each.count for row, each in found.final.items() if row.endswith("_ERROR")}
    printed = "as printed by go-ycsb: they can't be merged with others"
    latencies = [value for row in found.final.values() for _, value in row.printed]
    if latencies and all(math.isclose(value * 1000, round(value * 1000)) for value in latencies):
        printed += ", and are upper ends of buckets of 1 ms"
    return Measurement(
        window=(0.0, seconds),
        throughput=(PhaseThroughput(None, count, sum(failed.values()), seconds, count / seconds),),
        operations=tuple(go_ycsb.operations(found.final, failed)),
        intervals=go_ycsb.intervals(found, seconds),
        tool_version="go-ycsb",
        properties=(("latency", "service"), ("percentiles", printed), _WHOLE),
    )


def _go_ycsb_total(name: str, text: Sequence[str], found: go_ycsb_output.Output) -> tuple[int, float]:
    """How many operations were done, and in how many seconds: by its TOTAL row. Older ones have none: there, the sum of
    the rows, and the time that is told before them. Raises OutputProblem."""
    total = found.final.get("TOTAL")
    if total is not None and total.count and total.seconds:
        return go_ycsb.transactions(found.final), total.seconds
    finished = next((match for line in text if (match := _FINISHED.match(line))), None)
    if total is not None or finished is None or not found.final or any("TOTAL" in rows for rows in found.interim):
        raise OutputProblem(name, len(text), "cut: it has no final TOTAL row")
    counts = {row: each.count for row, each in found.final.items() if row in go_ycsb_output.OPERATIONS}
    # A read-modify-write is one operation, though READ and UPDATE count it again.
    count = sum(counts.values()) - 2 * counts.get("READ_MODIFY_WRITE", 0)
    seconds = sum(float(number) * _GO_UNITS[unit] for number, unit in _GO_TIME.findall(finished[1]))
    if not count or not seconds:
        raise OutputProblem(name, len(text), "no operation was done")
    return count, seconds


def _db_bench(name: str, path: Path, benchmark: str) -> Measurement:
    text = _lines(name, path)
    part = list(_of_benchmark(name, text, benchmark))
    found = db_bench_output.read(part, ())
    headline = found.headline(benchmark)
    if headline is None:
        raise OutputProblem(name, len(text), f"cut: the line of {benchmark} is not whole")
    hits, asked = headline.found or (1, 1)
    if not hits and asked and benchmark != "readmissing":
        raise OutputProblem(
            name, None, f"{benchmark} found none of the {asked} keys it looked up: there was no database"
        )
    blocks = [block for block in found.blocks if block.operation not in ("compress", "uncompress")]
    if any(not block.whole for block in blocks):
        raise OutputProblem(name, len(text), f"cut: a histogram of {benchmark} is not whole")
    count = headline.operations if headline.operations is not None else sum(block.count for block in blocks)
    if not count or not headline.ops_per_s:
        hint = "its rate can be imported by a table: bench import table"
        told = "the number of operations is not told: there is neither a histogram, nor a count in the result"
        raise OutputProblem(name, None, told, hint)
    exact = headline.seconds is not None and headline.ops_per_s < 1000
    seconds = headline.seconds if exact and headline.seconds else count / headline.ops_per_s
    operations = tuple(block.as_operation() for block in blocks)
    missing = () if operations else ("db_bench was run without --histogram, so there is no latency",)
    return Measurement(
        window=(0.0, seconds),
        throughput=(PhaseThroughput(None, count, 0, seconds, count / seconds),),
        operations=operations,
        warnings=(*found.warnings, *missing),
        tool_version=f"db_bench {found.version}".strip(),
        properties=(("latency", "service"), ("percentiles", "interpolated in db_bench's histogram buckets"), _WHOLE),
    )


def _of_benchmark(name: str, text: Sequence[str], benchmark: str) -> Iterator[str]:
    """The lines before any result, and those of one benchmark: a file may hold several, one after the other."""
    places = [(number, match[1]) for number, line in enumerate(text) if (match := _HEADLINE.match(line))]
    if not places:
        told = "not an output of db_bench: it has no result such as `readrandom : ... micros/op`"
        raise OutputProblem(name, None, told, _of_another_tool(text))
    own = [number for number, each in places if each == benchmark]
    if not own:
        others = ", ".join(dict.fromkeys(each for _, each in places))
        raise OutputProblem(name, places[0][0] + 1, f"no result of {benchmark}: it has {others}")
    if len(own) > 1:
        hint = "give each run a file of its own"
        raise OutputProblem(name, own[1] + 1, f"a second result of {benchmark} begins here", hint)
    end = next((number for number, _ in places if number > own[0]), len(text))
    yield from text[: places[0][0]]
    yield from text[own[0] : end]

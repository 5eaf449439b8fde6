"""Reads YCSB's raw latencies (`measurementtype=raw`): one line per operation, in files of up to gigabytes.

    READ latency raw data: op, timestamp(ms), latency(us)
    READ,1700000000123,412

The time stamp is the end of the operation (core's OneMeasurementRaw). On standard output, these lines are mixed with
YCSB's other rows. DuckDB reads the file within its memory limit. Only counts are kept: one for each latency bucket,
whose width is 2^-10 of the latency, and one for each second.
"""

from __future__ import annotations

import math
import re
from codecs import BOM_UTF16_BE
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbrief.extend.histograms import US_PER_S, from_counts
from benchbrief.extend.importers import BadLine, last_text, sql_text
from benchbrief.extend.invariants import parse_printed
from benchbrief.extend.samplers import text_encoding
from benchbrief.extend.tools import Interval, Measurement, Operation, PhaseThroughput
from benchbrief.extensions.importers.ycsb.ycsb_command_line import disclosed, has_interval, of_command_line
from benchbrief.extensions.tools.ycsb.ycsb_output import YcsbText, operation_of, read_text, say

if TYPE_CHECKING:
    import duckdb

_HEAD_BYTES = 1 << 20
_LINE = re.compile(r"^[A-Z][A-Z-]*,\d{10,},\d+\s*$", re.MULTILINE)
_TITLE = re.compile(r"[A-Z][A-Z-]* latency raw data: op, timestamp")
_ANNOUNCED = "Raw data measurement: will output to stdout"
"""The line that YCSB prints before latencies on its standard output. Files that contain only latencies lack this line.
"""
_OPERATION = re.compile(r"(?:READ|UPDATE|INSERT|SCAN|DELETE)[A-Z_-]*,")
_MEMORY = "200MB"
_DUCKDB = {"utf-8-sig": "utf-8", "utf-16": "utf-16"}
"""Encodings by the names that DuckDB uses. DuckDB skips a byte-order mark, and can read UTF-16 only if it is
little-endian."""
_RMW = "READ-MODIFY-WRITE"
_TOTAL_KEYS = {"Throughput(ops/sec)", "RunTime(ms)"}
_FIRST_MS, _LAST_MS = 946_684_800_000, 4_102_444_800_000
"""The earliest and the latest valid time stamp: the years 2000 to 2100."""
_PATIENCE = 20.0
"""The longest plausible gap between operations, as a multiple of the mean gap. If operations end at random times, one
run in 10^8 has a longer gap."""
_START_S = 120.0
"""How many seconds longer a latency may be than the time from the first operation's end to the last one's. A thread's
first operation may include connecting."""
_FEWEST_GROUPS = 20
_REJECTS = 10_000
"""How many lines that are not latencies are checked at most. YCSB prints a few hundred such lines, and a line for each
status report."""
_BUCKETS = 10
"""The resolution of latencies: 2^-10 of their value, or 1 us for latencies up to 2^11 us."""


@dataclass
class _OfRow:
    count: int = 0
    sum_us: int = 0
    least_us: int = 1 << 62
    most_us: int = 0
    begin_us: int = 1 << 62
    first_ms: int = 1 << 62
    last_ms: int = 0
    buckets: list[tuple[tuple[int, int], int]] = field(default_factory=list)


def is_raw(path: Path) -> bool:
    """Return whether a file has raw latencies in its first or last megabyte. In YCSB's standard output, they come
    last."""
    with path.open(encoding=text_encoding(path), errors="replace") as file:
        first = file.read(_HEAD_BYTES)
    return any(_LINE.search(text) for text in (first, last_text(path, _HEAD_BYTES)))


def read(path: Path, beside: Sequence[str] = ()) -> Measurement:
    """Read raw latencies. `beside` are lines that YCSB printed into another file in the same run. Raises BadLine."""
    import duckdb

    with duckdb.connect(":memory:", config={"memory_limit": _MEMORY, "threads": 2}) as connection:
        connection.execute("SET preserve_insertion_order = false")
        connection.execute("SET enable_progress_bar = false")  # otherwise it is printed among the output
        groups = _groups(connection, path)
        among = _refuse_rejected(connection)
    rows = _rows(groups)
    printed_lines = (*among, *beside)
    text = read_text(printed_lines)
    _refuse_cut(among, text)
    _refuse_other_counts(rows, text)
    _refuse_gaps(rows, groups)
    _refuse_twice(groups)
    kind = say.latency_service() if has_interval(printed_lines) else say.latency_unknown()
    settings = (("latency", kind), *disclosed(of_command_line(printed_lines)))
    return _measurement(groups, rows, settings)


def _groups(connection: duckdb.DuckDBPyConnection, path: Path) -> list[tuple[Any, ...]]:
    """Return the counts by row and bucket, and the counts by row and second, from one pass over the file."""
    import duckdb

    name, encoding = sql_text(path), sql_text(_DUCKDB[text_encoding(path)])
    with path.open("rb") as file:
        if file.read(2) == BOM_UTF16_BE:
            raise BadLine(None, "latencies in UTF-16 BE", f"make it UTF-8: iconv -f UTF-16 -t UTF-8 {path.name}")
    try:
        return connection.execute(
            f"""
            WITH raw AS (
                SELECT op, ms, us,
                       CASE WHEN us < 2 << {_BUCKETS} THEN 0 ELSE floor(log2(us))::INT - {_BUCKETS} END AS shift
                FROM read_csv({name}, auto_detect = false, header = false, delim = ',', quote = '', escape = '',
                    encoding = {encoding},
                    columns = {{'op': 'VARCHAR', 'ms': 'BIGINT', 'us': 'BIGINT'}}, store_rejects = true,
                    rejects_limit = {_REJECTS}, strict_mode = false)
            ), placed AS (SELECT op, ms, us, shift, (us >> shift) << shift AS lo, ms // 1000 AS second FROM raw)
            SELECT op, lo, shift, second, count(*), sum(us)::BIGINT, min(us), max(us), min(ms * 1000 - us), min(ms),
                   max(ms)
            FROM placed GROUP BY GROUPING SETS ((op, lo, shift), (op, second))
            """  # noqa: S608  # the file's own name, quoted, and numbers of ours
        ).fetchall()
    except duckdb.Error as error:
        raise BadLine(None, f"can't be read as lines of YCSB: {str(error).splitlines()[0]}") from error


def _refuse_rejected(connection: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
    """Return the other lines that YCSB printed between the latencies. Raises BadLine for an incomplete latency."""
    rows = connection.execute("SELECT DISTINCT line, csv_line FROM reject_errors ORDER BY line").fetchall()
    for line, text in rows:
        said = str(text or "").strip()
        if _OPERATION.match(said):
            raise BadLine(int(line), f"not a whole latency: {said[:60]!r}", "was the file cut, or a disk full?")
    errors = connection.execute("SELECT count(*) FROM reject_errors").fetchone()  # a line may have several
    if (
        errors and errors[0] >= _REJECTS
    ):  # lines beyond the limit were not checked, and may be complete or incomplete latencies
        raise BadLine(
            None, "too many of its lines are no latencies", "keep the latencies, and not what was printed with them"
        )
    runs = sum(_TITLE.match(str(text or "")) is not None and str(text).startswith("READ ") for _, text in rows)
    if runs > 1:
        raise BadLine(None, f"the latencies of {runs} runs", "YCSB appends to a file: give each run one of its own")
    return tuple(str(text or "") for _, text in rows)


def _rows(groups: list[tuple[Any, ...]]) -> dict[str, _OfRow]:
    """Return the counts of each operation. Raises BadLine."""
    rows: dict[str, _OfRow] = {}
    for op, lo, shift, second, count, total, least, most, begin, first, last in groups:
        if second is not None or operation_of(str(op)) is None:
            continue
        of = rows.setdefault(str(op), _OfRow())
        of.count += count
        of.sum_us += total
        of.least_us, of.most_us = min(of.least_us, least), max(of.most_us, most)
        of.begin_us, of.first_ms, of.last_ms = min(of.begin_us, begin), min(of.first_ms, first), max(of.last_ms, last)
        of.buckets.append(((lo, lo + (1 << shift)), count))
    if not rows:
        raise BadLine(None, "no latency of an operation in it")
    return rows


def _refuse_cut(among: Sequence[str], text: YcsbText) -> None:
    """Raise BadLine if standard output has latencies but lacks their count, which YCSB prints last."""
    announced = any(line.startswith(_ANNOUNCED) for line in among)
    counted = any("Total Operations" in cells for cells in text.cells.values())
    if announced and not counted and not text.overall.keys() >= _TOTAL_KEYS:
        problem = "cut: after its latencies YCSB prints how many there were ([OVERALL], Total Operations), and has not"
        raise BadLine(None, problem, "give the whole output of a run that ended")


def _refuse_other_counts(rows: Mapping[str, _OfRow], text: YcsbText) -> None:
    """Raise BadLine if YCSB's own count of operations differs from the number of lines.

    YCSB prints `[READ], Total Operations, 500`, and `Average`, `Min` and `Max`, after the latencies or in another file.
    """
    for name, cells in text.cells.items():
        of = rows.get(name, _OfRow())
        said = parse_printed(cells.get("Total Operations", ""))
        if said is None or operation_of(name) is None:
            continue
        if said.value != of.count:
            problem = f"YCSB counted {said} operations in [{name}], and {of.count} latencies are there: cut, or twice"
            raise BadLine(None, problem, "give the whole file of one run")
        for key, own in (("Average", of.sum_us / max(1, of.count)), ("Min", of.least_us), ("Max", of.most_us)):
            value = parse_printed(cells.get(key, ""))
            if value is not None and of.count and abs(value.value - own) > value.off + 1e-6 * own:
                raise BadLine(None, f"[{name}] has {key} = {value} us, and its latencies one of {own:.6g} us")
    counted = {name for name, cells in text.cells.items() if "Total Operations" in cells}
    for name in rows if counted else ():
        if name not in counted and not (operation_of(name) or ("", True))[1]:
            raise BadLine(None, f"{rows[name].count} latencies of {name} are there, and YCSB counted none: cut?")
    if text.overall.keys() >= _TOTAL_KEYS:
        done = sum(of.count for name, of in rows.items() if name != _RMW)
        done -= rows[_RMW].count if _RMW in rows else 0
        run = text.overall["Throughput(ops/sec)"] * text.runtime_s
        if abs(run - done) > 1 + 1e-6 * run:
            raise BadLine(None, f"YCSB did {run:.0f} operations by [OVERALL], and {done} latencies are there")


def _refuse_gaps(rows: Mapping[str, _OfRow], groups: list[tuple[Any, ...]]) -> None:
    """Raise BadLine if the time stamps can't come from one run.

    In a gap, no operation ends, but one is running all the time. The gap is therefore at most as long as the longest
    latency, plus chance.
    """
    first, last = min(of.first_ms for of in rows.values()), max(of.last_ms for of in rows.values())
    if not _FIRST_MS < first <= last < _LAST_MS:
        problem = f"its time stamps are from {first} to {last}, which are no milliseconds since 1970 of our time"
        raise BadLine(None, problem)
    seconds = sorted({int(group[3]) for group in groups if group[3] is not None and operation_of(str(group[0]))})
    done, most_s = sum(of.count for of in rows.values()), max(of.most_us for of in rows.values()) / 1e6
    if most_s > (last - first) / 1e3 + _START_S:
        problem = f"a latency of {most_s:.6g} s, and all operations ended within {(last - first) / 1e3:.3g} s"
        raise BadLine(None, f"{problem}: it began before the run")
    patience = 2 + most_s + _PATIENCE * len(seconds) / done
    for before, after in pairwise(seconds):
        if after - before > patience:
            problem = f"no operation ended for {after - before} s, and none took longer than {most_s:.3g} s"
            raise BadLine(None, f"{problem}: is a part of it of another run?")
    for name, of in rows.items():
        rare_ms = 1000 * (1 + most_s) + _PATIENCE * max(1, of.last_ms - of.first_ms) / of.count
        late, early = of.first_ms - first, last - of.last_ms
        if not (operation_of(name) or ("", True))[1] and max(late, early) > rare_ms and of.count > _PATIENCE:
            side = f"end {early / 1000:.3g} s before" if early >= late else f"begin {late / 1000:.3g} s after"
            raise BadLine(None, f"the latencies of {name} {side} those of the others: cut?")


def _refuse_twice(groups: list[tuple[Any, ...]]) -> None:
    """Raise BadLine if all latencies of an operation occur several times, as in a file that was appended to itself.

    In such a file, the counts of all buckets and seconds are multiples of the number of copies. In a good file, all
    counts are even only with a chance of 1 in 2^20.
    """
    counts: dict[str, list[int]] = {}
    for op, _, _, _, count, *_ in groups:
        counts.setdefault(str(op), []).append(count)
    for op, each in counts.items():
        if (times := math.gcd(*each)) > 1 and len(each) >= _FEWEST_GROUPS:
            raise BadLine(None, f"each latency of {op} is in it {times} times", "give the lines of one run, once")


def _measurement(
    groups: list[tuple[Any, ...]], rows: Mapping[str, _OfRow], settings: Sequence[tuple[str, str]]
) -> Measurement:
    seconds: dict[int, int] = {}
    for op, _, _, second, count, *_ in groups:
        kind = operation_of(str(op))
        if kind is None or kind[1] or second is None:
            continue
        seconds[second] = seconds.get(second, 0) + (-count if kind[0] == "read_modify_write" else count)
    operations = _operations(rows)
    begin_us, end_ms = min(of.begin_us for of in rows.values()), max(of.last_ms for of in rows.values())
    start = begin_us / 1e6
    again = sum(each.count for each in operations if each.operation == "read_modify_write")
    done = sum(each.count for each in operations if each.in_total) - again
    errors = sum(each.errors for each in operations)
    length = max((end_ms * 1000 - begin_us) / 1e6, 0.001)
    by_second = sorted(seconds.items())
    return Measurement(
        window=(start, start + length),
        throughput=(PhaseThroughput(None, done, errors, length, done / length),),
        operations=operations,
        # The first and the last second are incomplete.
        intervals=tuple(Interval(at - start, 1.0, count) for at, count in by_second[1:-1] if count >= 0),
        tool_version="YCSB",
        properties=(
            ("percentiles", "from raw latencies, in buckets of a thousandth"),
            ("window", "from the start of the first operation to the end of the last one"),
            *settings,
        ),
    )


def _operations(rows: Mapping[str, _OfRow]) -> tuple[Operation, ...]:
    failed: dict[str, int] = {}
    for name, of in rows.items():
        operation, failure = operation_of(name) or ("", True)
        if failure:
            failed[operation] = failed.get(operation, 0) + of.count
    done = []
    for name, of in rows.items():
        operation, failure = operation_of(name) or ("", True)
        if not failure:
            done.append(
                Operation(
                    operation=operation,
                    count=of.count,
                    errors=failed.pop(operation, 0),
                    mean_s=of.sum_us / of.count / 1e6,
                    min_s=of.least_us / 1e6,
                    max_s=of.most_us / 1e6,
                    histogram=from_counts(of.buckets, US_PER_S),
                    in_total=operation != "read_modify_write",
                )
            )
    return (*done, *(Operation(operation=name, count=0, errors=number) for name, number in failed.items()))

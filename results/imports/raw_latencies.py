"""YCSB's raw latencies (`measurementtype=raw`): a line for each operation, of which a file may hold gigabytes.

    READ latency raw data: op, timestamp(ms), latency(us)
    READ,1700000000123,412

The time stamp is taken when the operation has ended (core's OneMeasurementRaw). On standard output they stand among
YCSB's other rows. DuckDB reads them, in as much memory as it is given: what is kept is a count for each bucket of 2^-10
of the latency, and for each second.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchbrief.runners.drivers.ycsb_output import operation_of
from benchbrief.runners.histogram import from_counts
from benchbrief.runners.measurement import Interval, Measurement, Operation, PhaseThroughput

if TYPE_CHECKING:
    import duckdb

_HEAD_BYTES = 1 << 20
_LINE = re.compile(rb"^[A-Z][A-Z-]*,\d{10,},\d+\s*$", re.MULTILINE)
_TITLE = re.compile(r"[A-Z][A-Z-]* latency raw data: op, timestamp")
_OPERATION = re.compile(r"(?:READ|UPDATE|INSERT|SCAN|DELETE)[A-Z_-]*,")
_MEMORY = "200MB"
_REJECTS = 10_000
"""Mistakes in lines without a latency that are looked at. YCSB prints a few hundred such lines, and one a status."""
_BUCKETS = 10
"""Latencies are told apart to 2^-10 of their value, up to 2^11 us to the microsecond."""


class BadLine(Exception):
    """A line that is none of YCSB's."""

    def __init__(self, line: int | None, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.line, self.hint = line, hint


@dataclass
class _OfRow:
    count: int = 0
    sum_us: int = 0
    least_us: int = 1 << 62
    most_us: int = 0
    buckets: list[tuple[tuple[float, float], int]] = field(default_factory=list)


def is_raw(path: Path) -> bool:
    """Whether a file has raw latencies, by its first and last megabyte: on standard output they come late."""
    with path.open("rb") as file:
        if _LINE.search(file.read(_HEAD_BYTES)):
            return True
        file.seek(max(0, file.seek(0, os.SEEK_END) - _HEAD_BYTES))
        return _LINE.search(file.read(_HEAD_BYTES)) is not None


def read(path: Path) -> Measurement:
    """Raises BadLine."""
    import duckdb

    with duckdb.connect(":memory:", config={"memory_limit": _MEMORY, "threads": 2}) as connection:
        connection.execute("SET preserve_insertion_order = false")
        connection.execute("SET enable_progress_bar = false")  # it would be among what is printed
        groups = _groups(connection, path)
        _refuse_rejected(connection)
    return _measurement(groups)


def _groups(connection: duckdb.DuckDBPyConnection, path: Path) -> list[tuple[Any, ...]]:
    """Counts by row and bucket, and by row and second, in one pass over the file."""
    import duckdb

    name = "'" + str(path).replace("'", "''") + "'"
    try:
        return connection.execute(
            f"""
            WITH raw AS (
                SELECT op, ms, us,
                       CASE WHEN us < 2 << {_BUCKETS} THEN 0 ELSE floor(log2(us))::INT - {_BUCKETS} END AS shift
                FROM read_csv({name}, auto_detect = false, header = false, delim = ',', quote = '', escape = '',
                    columns = {{'op': 'VARCHAR', 'ms': 'BIGINT', 'us': 'BIGINT'}}, store_rejects = true,
                    rejects_limit = {_REJECTS}, strict_mode = false)
            ), placed AS (SELECT op, ms, us, shift, (us >> shift) << shift AS lo, ms // 1000 AS second FROM raw)
            SELECT op, lo, shift, second, count(*), sum(us)::BIGINT, min(us), max(us), min(ms * 1000 - us), max(ms)
            FROM placed GROUP BY GROUPING SETS ((op, lo, shift), (op, second))
            """  # noqa: S608  # the file's own name, quoted, and numbers of ours
        ).fetchall()
    except duckdb.Error as error:
        raise BadLine(None, f"can't be read as lines of YCSB: {str(error).splitlines()[0]}") from error


def _refuse_rejected(connection: duckdb.DuckDBPyConnection) -> None:
    """Lines of YCSB's other output may stand among the latencies; a line that is no whole latency may not."""
    rows = connection.execute("SELECT DISTINCT line, csv_line FROM reject_errors ORDER BY line").fetchall()
    for line, text in rows:
        said = str(text or "").strip()
        if _OPERATION.match(said):
            raise BadLine(int(line), f"not a whole latency: {said[:60]!r}", "was the file cut, or a disk full?")
    errors = connection.execute("SELECT count(*) FROM reject_errors").fetchone()  # a line may have several
    if (
        errors and errors[0] >= _REJECTS
    ):  # what stands behind the limit was not looked at: whole latencies among it, or cut ones
        raise BadLine(
            None, "too many of its lines are no latencies", "keep the latencies, and not what was printed with them"
        )
    runs = sum(_TITLE.match(str(text or "")) is not None and str(text).startswith("READ ") for _, text in rows)
    if runs > 1:
        raise BadLine(None, f"the latencies of {runs} runs", "YCSB appends to a file: give each run one of its own")


def _measurement(groups: list[tuple[Any, ...]]) -> Measurement:
    rows: dict[str, _OfRow] = {}
    seconds: dict[int, int] = {}
    begin_us, end_ms = 1 << 62, 0
    for op, lo, shift, second, count, total, least, most, first, last in groups:
        kind = operation_of(str(op))
        if kind is None:
            continue
        begin_us, end_ms = min(begin_us, first), max(end_ms, last)
        if second is not None:
            if not kind[1] and kind[0] != "read_modify_write":
                seconds[second] = seconds.get(second, 0) + count
            elif kind[0] == "read_modify_write" and not kind[1]:
                seconds[second] = seconds.get(second, 0) - count
            continue
        of = rows.setdefault(str(op), _OfRow())
        of.count += count
        of.sum_us += total
        of.least_us, of.most_us = min(of.least_us, least), max(of.most_us, most)
        of.buckets.append(((lo / 1e6, (lo + (1 << shift)) / 1e6), count))
    if not rows:
        raise BadLine(None, "no latency of an operation in it")
    operations = _operations(rows)
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
        # The first and the last second are not whole.
        intervals=tuple(Interval(at - start, 1.0, count) for at, count in by_second[1:-1] if count >= 0),
        tool_version="YCSB",
        properties=(
            ("latency", "service"),
            ("percentiles", "from raw latencies, in buckets of a thousandth"),
            ("window", "from the start of the first operation to the end of the last one"),
        ),
    )


def _operations(rows: dict[str, _OfRow]) -> tuple[Operation, ...]:
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
                    histogram=from_counts(of.buckets),
                    in_total=operation != "read_modify_write",
                )
            )
    return (*done, *(Operation(operation=name, count=0, errors=number) for name, number in failed.items()))

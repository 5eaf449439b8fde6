"""Parses YCSB's output: rows on standard output (since 0.1.4), and HDR logs with one line per second.

    [OVERALL], Throughput(ops/sec), 3015.2950955943475
    [READ], 99thPercentileLatency(us), 5931            (ms up to 0.3.0; "99.9PercentileLatency" has no "th")
    [READ], Return=OK, 18137                           (0.1.4: Return=0; BATCHED_OK is good, too)
    [READ], 0, 4971                                    (measurementtype=histogram: operations of 0 to 1 ms)
    [READ], 412, 3.0                                   (an HDR histogram that is printed: operations of 412 us)
    [HdrREAD], Operations, 978                         (hdrhistogram+histogram; [BucketREAD] has the same ones)

YCSB's JSON exporters write the same rows as objects, in an array or one after the other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchbrief.extend.common import CommonSentences, Message, speaker
from benchbrief.extend.histograms import US_PER_S, from_counts
from benchbrief.extend.tools import Histogram, Interim, decode_hdr, read_output_lines


class YcsbMessages(CommonSentences, Protocol):
    def percentiles_hdr(self) -> Message: ...
    def percentiles_merged(self) -> Message: ...
    def no_log_line(self, *, line: object) -> Message: ...
    def interval_backwards(self, *, line: object) -> Message: ...
    def interval_maximum(self, *, said: object, held: object, line: object) -> Message: ...
    def percentiles_ycsb(self) -> Message: ...
    def warm_up_cut_off(self, *, seconds: object) -> Message: ...
    def first_operation(self, *, seconds: object) -> Message: ...
    def no_overall(self, *, said: object) -> Message: ...
    def no_operations_measured(self, *, said: object) -> Message: ...
    def inserts_failed(self, *, failed: object, done: object, n: object, said: object) -> Message: ...
    def ycsb_ended_early(self, *, seconds: object, wanted: object, end: object, said: object) -> Message: ...
    def ycsb_began_late(self, *, seconds: object, wanted: object, first: object) -> Message: ...
    def old_histogram(self) -> Message: ...
    def damaged_log(self, *, said: object) -> Message: ...
    def short_phases(self, *, n: object, seconds: object) -> Message: ...
    def no_logs(self) -> Message: ...
    def batched(self, *, batched: object, n: object, row: object) -> Message: ...
    def failures_inside(self, *, failed: object, n: object, row: object) -> Message: ...
    def failures_are_inside(self) -> Message: ...
    def failures_in_logs(self, *, row: object, failed: object) -> Message: ...
    def hint_failures_apart(self) -> Message: ...
    def whole_run_start(self) -> Message: ...
    def load_last(self) -> Message: ...
    def load_left(self) -> Message: ...
    def percentiles_buckets(self) -> Message: ...
    def percentiles_printed(self) -> Message: ...
    def hint_operations(self) -> Message: ...
    def hint_busy(self) -> Message: ...
    def hint_phases(self) -> Message: ...
    def hint_ycsb(self) -> Message: ...
    def hint_histogram(self) -> Message: ...
    def percentiles_buckets_ms(self) -> Message: ...
    def percentiles_printed_ms(self) -> Message: ...
    def ycsb_no_uri(self) -> Message: ...
    def ycsb_line_break(self) -> Message: ...
    def hint_uri(self) -> Message: ...
    def hint_look_uri(self) -> Message: ...


say: YcsbMessages = speaker(YcsbMessages)


OPERATIONS: Mapping[str, str] = {
    "READ": "read",
    "UPDATE": "update",
    "INSERT": "insert",
    "SCAN": "scan",
    "DELETE": "delete",
    "READ-MODIFY-WRITE": "read_modify_write",
}
"""benchbrief's names of operations, by YCSB's rows. READ and UPDATE count a read-modify-write again."""

INTENDED = "Intended-"
BUCKETS = "Bucket"
"""The beginning of the section with a second histogram. If there are both `[HdrREAD]` and `[BucketREAD]`, only
`[HdrREAD]` is read."""
_OTHERS = ("OVERALL", "TOTAL_GC_TIME", "TOTAL_GC_TIME_%")
"""Sections that are read although they are not about operations."""

_ROW = re.compile(r"\s*\[([^\]]+)\]\s*,\s*([^,]+?)\s*,\s*(\S+)\s*\Z")
_BEGUN = re.compile(r"\s*\[([^\]]+)\]\s*,")
"""Matches the start of a row that may be incomplete. Blanks may vary, since people paste and align files."""
_PERCENTILE = re.compile(r"(\d{1,3}(?:\.\d{1,9})?)(?:st|nd|rd|th)?PercentileLatency\((us|ms)\)")
_LATENCY = re.compile(r"(Average|Min|Max)Latency\((us|ms)\)")
_BUCKET = re.compile(r"(>?)(\d{1,12})")
_CLEANUPS = re.compile(r"\s*\[(?:Hdr)?CLEANUP\]\s*,\s*(?:Total )?Operations\s*,\s*(\d{1,9})(?:\.0*)?\s*\Z")
_VERSION = re.compile(r"YCSB Client (\S+)")
_HDR_START = re.compile(r"#\[(?:StartTime|BaseTime): (\d+\.\d+) \(seconds since epoch\)")
_NOW = re.compile(r"\d+ sec: (\d{1,18}) operations; (\d{1,18}(?:\.\d+)?) current ops/sec;")
_ELAPSED = re.compile(r"\b(\d{1,9}) sec: ")
_NOW_OF = re.compile(r"\[([A-Z-]+): Count=(\d{1,18}), [^\]]*?\b99=(\d+(?:\.\d+)?),")
_SCALE = {"us": 1e-6, "ms": 1e-3}
_GOOD = ("OK", "BATCHED_OK", "0")
"""The return codes that mean success: those that YCSB's `Status.isOk` accepts, and the number used up to 0.2."""
_OBJECT = re.compile(r'"metric"\s*:\s*"([^"]+)",\s*"measurement"\s*:\s*"([^"]+)",\s*"value"\s*:\s*"?([^\s",}]+)"?\s*}')


FIGURES = (
    r"\[[A-Za-z0-9_%.-]{1,60}\], [A-Za-z0-9_%./=>-]{1,60}([(][A-Za-z%/]{1,10}[)])?, -?([0-9.eE+-]{1,40}|NaN)",
    r"[0-9-]{10} [0-9:]{8,12} [0-9]{1,9} sec: [0-9]{1,18} operations;([A-Za-z0-9 ,:;=.()/_%-]|\[|\])*",
    r"[0-9.]{1,24},[0-9.]{1,24},[0-9.]{1,24},HIST[A-Za-z0-9+/=]*",
    r"#\[(StartTime|BaseTime): [0-9.]{1,24} [(]seconds since epoch[)][^]]{0,60}\]",
    r"#\[Histogram log format version [0-9.]{1,9}\]",
    r'"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
)
"""Patterns of the lines that are read: see `tasks.Job.figures`."""


@dataclass(frozen=True)
class YcsbRow:
    """One operation's rows for the whole run, with times in seconds.

    `ok` and `failed` are counted by its return codes. Both are None if it has no return codes (READ-MODIFY-WRITE,
    Intended-X). `batched` is how many of the successful operations were put into a batch for later. With `by_ms`,
    percentiles are the lower ends of one-millisecond buckets. With `zeros`, some percentiles were printed as 0, which
    has no meaning.
    """

    name: str
    count: int
    mean_s: float | None
    min_s: float | None
    max_s: float | None
    printed: tuple[tuple[float, float], ...]
    ok: int | None
    failed: int | None
    histogram: Histogram | None
    batched: int = 0
    by_ms: bool = False
    zeros: bool = False

    @property
    def failed_inside(self) -> int:
        """How many failures the row's count and latencies include. Before 0.6.0, failures had no rows of their own."""
        return self.failed if self.failed and self.count == (self.ok or 0) + self.failed else 0


Cells = Mapping[str, Mapping[str, str]]
"""The values in the rows as printed, by section (such as `READ`) and name (such as `Operations`)."""


@dataclass(frozen=True)
class YcsbText:
    """The parsed text. `overall` is empty if the run did not end normally.

    `cells` are the rows of operations, of OVERALL and of the garbage collector. `oddities` describe the rows that
    appear twice or can't be read. YCSB itself never prints such rows.
    """

    overall: Mapping[str, float]
    rows: Mapping[str, YcsbRow]
    warnings: tuple[str, ...]
    cells: Cells
    oddities: tuple[str, ...]
    cleanups: int | None = None
    """How many database connections were closed, according to YCSB. There is one per thread, but the HBase binding
    counts two, because it also counts its own closing."""

    @property
    def runtime_s(self) -> float:
        return self.overall["RunTime(ms)"] / 1000

    @property
    def failures(self) -> tuple[tuple[str, str], ...]:
        """The property that discloses failures counted among the latencies. It is empty if there are no such
        failures."""
        inside = any(row.failed_inside for row in self.rows.values())
        return (("failures", say.failures_are_inside()),) if inside else ()


@dataclass(frozen=True)
class TimeSlice:
    """The operations that ended between two times in epoch seconds, by the load generator's clock."""

    start: float
    end: float
    histogram: Histogram

    @property
    def middle(self) -> float:
        return (self.start + self.end) / 2


def operation_of(row: str) -> tuple[str, bool] | None:
    """Return (operation, whether the row counts its failures) for the name of a row or a log, or None for other names.

    Failures are in READ-FAILED, or in rows such as READ-NOT_FOUND if YCSB was asked to separate them.
    """
    name = row.removeprefix(INTENDED)
    if name in OPERATIONS:
        return OPERATIONS[name], False
    base, dash, _ = name.partition("-")
    return (OPERATIONS[base], True) if dash and base in OPERATIONS else None


def interim(stderr: str) -> Interim | None:
    """Read the last complete status line (`-s`): its rate, and the p99 of its most frequent operation, in us.

        2026-03-01 10:00:05:120 5 sec: 7512 operations; 1502.4 current ops/sec; [READ: Count=712, ..., 99=4321, ...]

    For an interval without operations, YCSB prints NaN as the latency.
    """
    for line in reversed(stderr.split("\n")[:-1]):
        if match := _NOW.search(line):
            rows = [(int(of[2]), of[1], float(of[3])) for of in _NOW_OF.finditer(line) if of[1] in OPERATIONS]
            count, name, p99_us = max(rows, default=(0, "", 0.0))
            done, now, elapsed = int(match[1]), float(match[2]), float(of[1]) if (of := _ELAPSED.search(line)) else None
            if not count:
                return Interim(now, done=done, elapsed_s=elapsed)
            return Interim(now, p99_us * 1e-6, f"p99 {OPERATIONS[name].replace('_', '-')}", done, elapsed)
    return None


def version(stderr: Iterable[str]) -> str:
    return next((match[1] for line in stderr if (match := _VERSION.match(line))), "")


def read_text(stdout: Iterable[str]) -> YcsbText:
    overall: dict[str, float] = {}
    cells: dict[str, dict[str, str]] = {}
    warnings: list[str] = []
    oddities: list[str] = []
    cleanups: int | None = None
    for line in stdout:
        if begun := _BEGUN.match(line):
            name = begun[1].removeprefix("Hdr")
            if match := _CLEANUPS.match(line):
                cleanups = int(match[1])
            if name in _OTHERS or operation_of(name.removeprefix(BUCKETS)):
                _add_row(cells.setdefault(name, {}), name, line, oddities)
        elif line.lower().startswith(("warning:", "[warn]")):
            warnings.append(line.strip()[:300])
    for key, value in cells.get("OVERALL", {}).items():
        if (number := _number(value)) is not None:
            overall[key] = number
    rows = {name: _row(name, values) for name, values in cells.items() if operation_of(name)}
    warnings += [
        say.failures_inside(failed=row.failed, n=row.count, row=row.name) for row in rows.values() if row.failed_inside
    ]
    warnings += [say.batched(batched=row.batched, n=row.count, row=row.name) for row in rows.values() if row.batched]
    return YcsbText(overall, rows, tuple(warnings), cells, tuple(oddities), cleanups)


def _add_row(section: dict[str, str], name: str, line: str, oddities: list[str]) -> None:
    match = _ROW.match(line)
    if match is None:
        oddities.append(f"`{line.strip()[:60]}` is not a whole row of YCSB")
        return
    key, value = match[2], match[3]
    if key not in section:
        section[key] = value
    else:
        oddities.append(f"[{name}] has {key} twice: {section[key]} and {value}")


def rows_of_json(text: str) -> list[str] | None:
    """Convert a JSON exporter's output to the text exporter's rows. Returns None if the output is not complete."""
    body = text.strip()
    found = _OBJECT.findall(body)
    if not found or len(found) != body.count('"metric"') or body[-1:] not in ("}", "]"):
        return None
    return [f"[{metric}], {measurement}, {value}" for metric, measurement, value in found]


def is_json(text: str) -> bool:
    """Return whether the text comes from a JSON exporter, even if it was cut."""
    return re.match(r'\s*(?:\[\s*)?{\s*"metric"', text) is not None


def _row(name: str, values: Mapping[str, str]) -> YcsbRow:
    found: dict[str, float | None] = {}
    printed: list[tuple[float, float]] = []
    ok, failed = None, None
    count = batched = 0
    zeros = False
    buckets: list[tuple[str, int, int]] = []
    for key, value in values.items():
        number = _number(value)
        if number is None:
            continue
        if key == "Operations":
            count = int(number)
        elif match := _LATENCY.match(key):
            found[match[1]] = number * _SCALE[match[2]]
        elif match := _PERCENTILE.match(key):
            # 0 means below the first bucket's end, of a millisecond or a microsecond, by an unknown amount.
            if number > 0:
                printed.append((float(match[1]), number * _SCALE[match[2]]))
            zeros |= number == 0
        elif key.startswith("Return="):
            if key.removeprefix("Return=") in _GOOD:
                ok = (ok or 0) + int(number)
                batched += int(number) if key == "Return=BATCHED_OK" else 0
            else:
                failed = (failed or 0) + int(number)
        elif match := _BUCKET.fullmatch(key):
            buckets.append((match[1], int(match[2]), int(number)))
    if ok is not None or failed is not None:
        ok, failed = ok or 0, failed or 0
    return YcsbRow(
        name,
        count,
        found.get("Average"),
        found.get("Min"),
        found.get("Max"),
        tuple(sorted(printed)),
        ok,
        failed,
        _buckets(buckets, count, found.get("Max")),
        batched,
        any(key == "LatencyVariance(us)" or key.endswith("PercentileLatency(ms)") or key[0] == ">" for key in values),
        zeros,
    )


def _buckets(buckets: list[tuple[str, int, int]], count: int, max_s: float | None) -> Histogram | None:
    """Return a printed histogram, or None if some of its counts are missing.

    `measurementtype=histogram` counts by milliseconds. Its last bucket (`>1000`) holds all longer latencies, up to the
    printed maximum. A printed HDR histogram counts by microseconds and omits empty buckets, so its highest bucket is
    the one that contains the maximum.
    """
    highest = max((lowest for over, lowest, number in buckets if number and not over), default=0)
    by_us = not any(over for over, _, _ in buckets) and max_s is not None and abs(highest / 1e6 - max_s) <= max_s / 100
    width_us, most_us = 1 if by_us else 1000, round((max_s or 0.0) * US_PER_S)
    counts = []
    for over, number_of_bucket, number in buckets:
        lo = number_of_bucket * width_us
        counts.append(((lo, (max(most_us, lo) if over else lo) + width_us), number))
    try:
        histogram = from_counts(counts, US_PER_S)
    except ValueError:
        return None
    return histogram if histogram.count == count and count else None


def _number(text: str) -> float | None:
    """Parse a number. Returns None for NaN and infinity, as printed for an idle interval, and for any other text, as in
    a half-written line."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < 1e30 else None


def read_hdr_logs(directory: Path) -> dict[str, tuple[TimeSlice, ...]]:
    """Return the slices of each row that has a log. If a log is damaged, raises ValueError with the log's file name."""
    found = {}
    for path in sorted(directory.glob("*.hdr")):
        if operation_of(path.stem):
            try:
                found[path.stem] = tuple(_slices(path))
            except ValueError as error:
                raise ValueError(say.file_says(file=path.name, said=error)) from error
    return found


def _slices(path: Path) -> Iterator[TimeSlice]:
    base = 0.0
    for line in read_output_lines(path):
        if (start := log_start(line)) is not None:
            base = start
        elif line[:1] not in ("#", '"', ""):
            yield line_of_log(line, base)[1]


def log_start(line: str) -> float | None:
    """If this line states when a log's times begin, return that time in epoch seconds. Otherwise, return None."""
    match = _HDR_START.match(line)
    return float(match[1]) if match else None


def line_of_log(line: str, base: float) -> tuple[str, TimeSlice]:
    """Return the tag ("" if there is none) and the slice of a line `[Tag=..,]start,length,max,payload`.

    The line's start is relative to the log's start, unless it is absolute. Raises ValueError.
    """
    cells, tag = [cell.strip() for cell in line.split(",")], ""
    if cells[0].startswith("Tag="):
        tag, cells = cells[0].removeprefix("Tag="), cells[1:]
    if len(cells) != 4:
        raise ValueError(say.no_log_line(line=repr(line[:60])))
    start, length, highest = (_finite(cell, line) for cell in cells[:3])
    if length < 0:
        raise ValueError(say.interval_backwards(line=repr(line[:60])))
    # A year is longer than any run, and shorter than the time since the epoch.
    start += base if start < base - 365 * 86400 else 0.0
    histogram = decode_hdr(cells[3])
    if histogram.buckets and not _is_maximum(highest, histogram):
        held = f"{histogram.buckets[-1].hi * 1e6:.0f}"
        raise ValueError(say.interval_maximum(said=cells[2], held=held, line=repr(line[:60])))
    return tag, TimeSlice(start, start + length, histogram)


def _finite(text: str, line: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(say.no_log_line(line=repr(line[:60])))
    return value


def _is_maximum(printed: float, histogram: Histogram) -> bool:
    """Return whether a printed number is the histogram's maximum in one of the units that log writers use (Java divides
    by 10^6)."""
    last = histogram.buckets[-1]
    return any(last.lo / unit - 5.1e-4 <= printed <= last.hi / unit + 5.1e-4 for unit in (1.0, 1e-3, 1e-6))

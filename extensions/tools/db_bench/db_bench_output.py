"""Parses the output of db_bench since RocksDB 6: headlines, histograms, tickers, warnings, status lines, report file.

Two headlines:
  7.2-  readrandom   :  10.218 micros/op 3131616 ops/sec; 1254.3 MB/s (1000 of 1000 found)
  7.3+  overwrite    :   7.854 micros/op 127320 ops/sec 1800.001 seconds 229176999 operations;   51.0 MB/s
micros/op is thread-seconds for each operation, so it is not 1e6 / ops_per_s. `(x of y found)` covers one thread.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Protocol

from benchbrief.extend.common import CommonSentences, Message, Sample, speaker
from benchbrief.extend.histograms import US_PER_S, from_counts
from benchbrief.extend.tools import Histogram, Interim, Operation


class DbBenchMessages(CommonSentences, Protocol):
    def assertions(self) -> Message: ...
    def found_fewer(self, *, benchmark: object, share: object) -> Message: ...
    def percentiles_db_bench(self) -> Message: ...
    def log_off(self) -> Message: ...
    def log_synced(self) -> Message: ...
    def log_unsynced(self) -> Message: ...
    def off(self) -> Message: ...
    def on(self) -> Message: ...
    def warm_up_db_bench_direct(self) -> Message: ...
    def warm_up_db_bench(self) -> Message: ...
    def window_to_end(self) -> Message: ...
    def db_bench_error(self, *, said: object) -> Message: ...
    def no_db_bench_histogram(self, *, benchmark: object, said: object) -> Message: ...
    def found_none(self, *, benchmark: object, asked: object) -> Message: ...
    def found_other(self, *, benchmark: object, hits: object, asked: object, share: object) -> Message: ...
    def no_result(self, *, benchmark: object, said: object) -> Message: ...
    def no_keys_told(self, *, said: object) -> Message: ...
    def no_history(self, *, said: object) -> Message: ...
    def statistics_both(self, *, said: object) -> Message: ...
    def statistics_counters(self, *, said: object) -> Message: ...
    def statistics_kept(self, *, seconds: object) -> Message: ...
    def background_timed(self) -> Message: ...
    def background_unknown(self) -> Message: ...
    def background_by_rocksdb(self) -> Message: ...
    def background_by_status(self) -> Message: ...
    def hint_keys(self) -> Message: ...
    def hint_found_other(self) -> Message: ...
    def none_without_histogram(self) -> Message: ...
    def whole_seconds(self, *, seconds: object) -> Message: ...
    def no_offered_load(self) -> Message: ...
    def rocksdb_pathless(self) -> Message: ...  # earlier
    def no_rocksdb_option(self, *, name: object) -> Message: ...
    def hint_whole_seconds(self) -> Message: ...
    def hint_threads(self) -> Message: ...
    def hint_own_option(self) -> Message: ...
    def hint_flag_names(self) -> Message: ...
    def hint_db_bench(self) -> Message: ...


say: DbBenchMessages = speaker(DbBenchMessages)


BENCHMARK = "stats_history"

_LINE = re.compile(r"\s*(\d{9,11})\s+(rocksdb\.[\w.]+)\s+(\d{1,19})\s*\Z")
_KEPT_BYTES = 256 << 20
"""How many bytes of history RocksDB may keep, which is enough for about five hours at one reading per second. RocksDB
drops the oldest readings first, and the coverage shows the gap."""
PRINTED_BYTES = 1 << 30
"""The most bytes of printed history to accept. db_bench prints less."""
_COUNTERS_ALONE = 1
"""The value of `kExceptHistogramOrTimers` in RocksDB's StatsLevel. At this level RocksDB keeps only counters, which
need no clock."""

_HITS, _MISSES = "rocksdb.block.cache.hit", "rocksdb.block.cache.miss"
_WRITTEN, _STALL = "rocksdb.bytes.written", "rocksdb.stall.micros"
_TO_STORAGE = ("rocksdb.wal.bytes", "rocksdb.flush.write.bytes", "rocksdb.compact.write.bytes")
_RATES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "database.user_read": (
        "B/s",
        ("rocksdb.bytes.read", "rocksdb.number.multiget.bytes.read", "rocksdb.db.iter.bytes.read"),
    ),
    "database.user_written": ("B/s", (_WRITTEN,)),
    "database.wal_written": ("B/s", ("rocksdb.wal.bytes",)),
    "database.flushed": ("B/s", ("rocksdb.flush.write.bytes",)),
    "database.compaction_read": ("B/s", ("rocksdb.compact.read.bytes",)),
    "database.compaction_written": ("B/s", ("rocksdb.compact.write.bytes",)),
    "database.cache_hits": ("1/s", (_HITS,)),
    "database.cache_misses": ("1/s", (_MISSES,)),
    "database.bloom_useful": ("1/s", ("rocksdb.bloom.filter.useful",)),
}
"""The measures that are rates. Each has its unit, and the counters whose sum gives the rate."""

COUNTERS = frozenset({_STALL, *_TO_STORAGE, *(name for _, names in _RATES.values() for name in names)})
"""The counters that measures are computed from."""


@dataclass(frozen=True)
class CounterSlice:
    """How much counters grew in an interval that ended at `ended` (epoch seconds, by the host's clock).

    db_bench prints whole seconds, so `ended` is the middle of the printed second.
    """

    ended: float
    grew: Mapping[str, int]


def statistics_flags(every_s: float, given: Mapping[str, str]) -> dict[str, str]:
    """Return the flags that make RocksDB keep its counters. If the `given` flags turn on more statistics, these are
    kept, too."""
    level = {} if given.get("statistics") == "1" or "stats_level" in given else {"stats_level": str(_COUNTERS_ALONE)}
    return {
        "statistics": "1",
        **level,
        "stats_persist_period_sec": str(round(every_s)),
        "persist_stats_to_disk": "0",
        "stats_history_buffer_size": str(_KEPT_BYTES),
    }


def is_line(line: str) -> bool:
    """Return whether the line is part of db_bench's statistics history."""
    return line.startswith(" ") and "rocksdb." in line and _LINE.match(line) is not None


def read_slices(lines: Iterable[str]) -> tuple[CounterSlice, ...]:
    """Return the counters that the measures need, by interval in order of time."""
    found: dict[int, dict[str, int]] = {}
    for line in lines:
        if line.startswith(" ") and "rocksdb." in line and (match := _LINE.match(line)) and match[2] in COUNTERS:
            found.setdefault(int(match[1]), {})[match[2]] = int(match[3])
    return tuple(CounterSlice(ended + 0.5, found[ended]) for ended in sorted(found))


def make_samples(
    found: Sequence[CounterSlice], every_s: float, node: str, window: tuple[float, float]
) -> tuple[Sample, ...]:
    """Return each rate for every interval of the window, and each ratio for all intervals together. Leaves out measures
    whose counters are missing."""
    inside = list(_inside(found, every_s, window))
    if not inside:
        return ()
    seconds = _seconds([each.ended for each in inside], every_s)
    length = window[1] - window[0]
    made = []
    for each in inside:
        time = min(each.ended - window[0], length)
        lasted = min(time, seconds)
        for measure, (unit, names) in _RATES.items():
            if names[0] in each.grew:
                grew = sum(each.grew.get(name, 0) for name in names)
                made.append(Sample(measure, node, "", time, grew / seconds, unit, lasted))
    ratios = _ratios(inside, seconds * len(inside))
    time = made[-1].time if made else length
    return (
        *made,
        *(Sample(measure, node, "", time, value, "", min(time, seconds * len(inside))) for measure, value in ratios),
    )


def _inside(found: Sequence[CounterSlice], every_s: float, window: tuple[float, float]) -> Iterator[CounterSlice]:
    """Yield the intervals inside the window. The end of an interval is known to half a second."""
    for each in found:
        if each.ended - every_s >= window[0] - 0.5 and each.ended <= window[1] + 0.5:
            yield each


def _seconds(ended: Sequence[float], every_s: float) -> float:
    """Return the length of an interval in seconds. On a busy host, intervals are a little longer than requested.

    The ends of intervals are known only in whole seconds, so the returned length is the mean over all intervals.
    """
    if len(ended) < 2:
        return every_s
    span, asked = ended[-1] - ended[0], (len(ended) - 1) * every_s
    return span / (len(ended) - 1) if abs(span - asked) > 1 else every_s


def _ratios(inside: Sequence[CounterSlice], seconds: float) -> Iterator[tuple[str, float]]:
    hits, misses, written, stalled = (_total(inside, name) for name in (_HITS, _MISSES, _WRITTEN, _STALL))
    if hits is not None and misses is not None and hits + misses > 0:
        yield "database.cache_hit_ratio", hits / (hits + misses)
    if stalled is not None:
        # A stall is counted when it is over, and may have begun before.
        yield "database.stalled", min(1.0, stalled / 1e6 / seconds)
    stored = [total for name in _TO_STORAGE if (total := _total(inside, name)) is not None]
    if written and len(stored) == len(_TO_STORAGE):
        yield "database.write_amplification", sum(stored) / written


def _total(inside: Sequence[CounterSlice], name: str) -> int | None:
    """Return the sum of a counter over all intervals, or None if any interval lacks it."""
    counts = [each.grew[name] for each in inside if name in each.grew]
    return sum(counts) if len(counts) == len(inside) else None


# Longer ones are not numbers of the tool: Python refuses to read thousands of digits.
_N = r"\d{1,20}"
_F = rf"{_N}(?:\.\d+)?"
_HEADLINE = re.compile(
    rf"\s*(?P<name>[a-z]\w*)\s*:\s+(?P<micros>{_F}) micros/op\s+(?P<rate>{_N}) ops/sec"
    rf"(?:\s+(?P<seconds>{_F}) seconds\s+(?P<operations>{_N}) operations)?\s*;(?P<rest>.*)"
)
_BEGUN = re.compile(r"\s*([a-z]\w*)\s*:\s+\S+ micros/op")
_MB = re.compile(rf"({_F}) MB/s")
_FOUND = re.compile(rf"\((-?{_N}) of (-?{_N}) found\)")
_READS_FOUND = re.compile(rf"\( ?reads:({_N}) writes:({_N}) total:(-?{_N}) found:({_N})\)")
_BLOCK = re.compile(r"\s*Microseconds per (\w+):")
_COUNT = re.compile(rf"\s*Count: ({_N})\s+Average: ({_F})\s+StdDev: ({_F}|-?nan)")
_MIN = re.compile(rf"\s*Min: ({_F})\s+Median: ({_F})\s+Max: ({_F})")
_PERCENTILES = re.compile(rf"\s*Percentiles:((?: P[\d.]+: {_F})+)")
_PERCENTILE = re.compile(rf"P(\d{{1,3}}(?:\.\d{{1,9}})?): ({_F})")
_BUCKET = re.compile(rf"\s*[\[(]\s*({_N}),\s*({_N})\s*[\])]\s+({_N})\s+({_F})%\s+({_F})%\s*#*")
_HEAD = re.compile(rf"\s*(Keys|Values|Entries|RawSize|FileSize|Write rate|Read rate):\s+({_F})\b(.*)")
_HEAD_BEGUN = re.compile(r"\s*(?:Keys|Values|Entries|RawSize|FileSize|Write rate|Read rate):")
_TICKER = re.compile(rf"(rocksdb\.[\w.]+) (?:COUNT : ({_N})$|P50 : ({_F}) P95 : ({_F}) P99 : ({_F}) P100 : ({_F}))")
_SUMS = re.compile(rf"COUNT : ({_N}) SUM : ({_N})")
_WHOLE = re.compile(_N)
_KEYS_WRITTEN = re.compile(rf"Cumulative writes: \S+ writes, ({_N})([KMG]?) keys\b")
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}
_VERSION = re.compile(r"RocksDB:\s+version (\S+)")
_DATE = re.compile(r"Date:\s+\w{3} (\w{3}\s+\d+ \d\d:\d\d:\d\d \d{4})")
_STATUS = re.compile(
    rf"(\d{{4}}/\d\d/\d\d-\d\d:\d\d:\d\d)\s+\.\.\. thread ({_N}): \(({_N}),({_N})\) ops and \({_F},{_F}\) ops/second"
    rf" in \(({_F}),({_F})\) seconds"
)
_ERROR = re.compile(
    r".*?(?:\w+ error: |IO error|Corruption: |No space left|unknown benchmark|returned an error|ERROR: ).*",
    re.IGNORECASE,
)
_WARNING = re.compile(r"WARNING:\s*(.*)")
_TABLE = re.compile(r"\*\* ")
_PROGRESS = re.compile(r"\.\.\. finished \d+ ops\s*")

_ASSERTIONS = "Assertions are enabled; benchmarks unnecessarily slow"
"""The pattern of a db_bench warning that we translate."""


@dataclass(frozen=True)
class Headline:
    """A benchmark's result. Up to RocksDB 7.2, `seconds` and `operations` are None.

    `found` is how many keys one thread found and how many it looked up, or None if it looked up no keys. `cells` are
    the numbers as printed, by the names in the patterns. They include `mb_per_s` if it was printed.
    """

    name: str
    ops_per_s: int
    seconds: float | None
    operations: int | None
    found: tuple[int, int] | None
    cells: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class HistogramBlock:
    """A `Microseconds per <operation>:` histogram, with times in seconds. `whole` is false if a part of it is missing.

    `median`, `percentiles` and `deviation` are in microseconds as printed. `shares` has each bucket's count, share and
    cumulative share, in per cent as printed.
    """

    operation: str
    count: int
    mean_s: float
    min_s: float
    max_s: float
    histogram: Histogram
    whole: bool
    median: str = ""
    percentiles: tuple[tuple[str, str], ...] = ()
    shares: tuple[tuple[int, str, str], ...] = ()
    deviation: str = ""

    def as_operation(self) -> Operation:
        return Operation(
            operation=self.operation,
            count=self.count,
            mean_s=self.mean_s,
            min_s=self.min_s,
            max_s=self.max_s,
            histogram=self.histogram,
        )


@dataclass(frozen=True)
class Status:
    """A thread's status line: it did `count` operations in `seconds`. `clock` is the host's wall clock."""

    clock: datetime
    thread: int
    count: int
    seconds: float


def interim(stderr: str, *, background: bool) -> Interim | None:
    """Return the sum of the rates in each thread's last status line. Thread 0 is left out if it is a background writer.

    There is no latency yet: db_bench prints its histograms only at the end.
    """
    rates: dict[int, float] = {}
    done: dict[int, int] = {}
    elapsed = 0.0
    for line in stderr.split("\n")[:-1]:
        if (match := _STATUS.search(line)) and float(match[5]) > 0:
            rates[int(match[2])] = int(match[3]) / float(match[5])
            done[int(match[2])] = int(match[4])
            elapsed = max(elapsed, float(match[6]))
    if background:
        rates.pop(0, None)
        done.pop(0, None)
    return Interim(sum(rates.values()), done=sum(done.values()), elapsed_s=elapsed) if rates else None


@dataclass(frozen=True)
class Tickers:
    """A histogram line of `--statistics`, with percentiles in seconds."""

    count: int
    mean_s: float | None
    max_s: float
    printed: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class DbBenchOutput:
    headlines: tuple[Headline, ...]
    blocks: tuple[HistogramBlock, ...]
    tickers: Mapping[str, Tickers]
    warnings: tuple[str, ...]
    errors: tuple[str, ...]
    status: tuple[Status, ...]
    version: str
    date: datetime | None
    head: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """The lines above the results that describe the data, such as `Keys` and `Entries`. Each is a number and its
    suffix."""
    oddities: tuple[str, ...] = ()
    """Lines that begin like a result or a histogram, but can't be read. db_bench itself never prints such lines."""
    written: tuple[int, int] | None = None
    """The least and the most keys that the process can have written, by RocksDB's own count. The count is exact below
    10,000, and truncated to thousands or millions above."""

    def headline(self, benchmark: str) -> Headline | None:
        return next((headline for headline in self.headlines if headline.name == benchmark), None)


def _headline(match: re.Match[str]) -> Headline:
    rest = match["rest"]
    found = None
    if pair := _FOUND.search(rest):
        found = int(pair[1]), int(pair[2])
    elif pair := _READS_FOUND.search(rest):
        found = int(pair[4]), int(pair[1])
    return Headline(
        match["name"],
        int(match["rate"]),
        float(match["seconds"]) if match["seconds"] else None,
        int(match["operations"]) if match["operations"] else None,
        found,
        {name: text for name, text in match.groupdict().items() if text and name not in ("name", "rest")}
        | ({"mb_per_s": rate[1]} if (rate := _MB.search(rest)) else {}),
    )


def _status(match: re.Match[str]) -> Status:
    clock = datetime.strptime(match[1], "%Y/%m/%d-%H:%M:%S").replace(tzinfo=UTC)
    return Status(clock, int(match[2]), int(match[4]), float(match[6]))


class _Blocks:
    """Parses histogram blocks line by line."""

    def __init__(self) -> None:
        self._done: list[HistogramBlock] = []
        self._operation = ""
        self._counts: tuple[int, float] | None = None
        self._deviation = ""
        self._ends: tuple[float, float] | None = None
        self._buckets: list[tuple[tuple[int, int], int]] = []
        self._median = ""
        self._percentiles: tuple[tuple[str, str], ...] = ()
        self._shares: list[tuple[int, str, str]] = []
        self.oddities: list[str] = []

    def feed(self, line: str) -> None:
        if match := _BLOCK.match(line):
            self.finish()
            self._operation = match[1]
        elif not self._operation:
            return
        elif match := _COUNT.fullmatch(line.rstrip()):
            if self._counts is not None:
                self.oddities.append(f"the histogram of {self._operation} has two counts: {line.strip()[:40]}")
            self._counts = int(match[1]), float(match[2]) / 1e6
            self._deviation = match[3]
        elif match := _MIN.fullmatch(line.rstrip()):
            self._ends, self._median = (float(match[1]) / 1e6, float(match[3]) / 1e6), match[2]
        elif match := _PERCENTILES.fullmatch(line.rstrip()):
            self._percentiles = tuple(_PERCENTILE.findall(match[1]))
        elif match := _BUCKET.fullmatch(line.rstrip()):
            self._buckets.append(((int(match[1]), int(match[2])), int(match[3])))
            self._shares.append((int(match[3]), match[4], match[5]))
        elif line.lstrip().startswith(("Count:", "Min:", "Percentiles:", "[", "(")):
            self.oddities.append(f"`{line.strip()[:80]}` is no line of a histogram of db_bench")

    def finish(self) -> None:
        if self._operation and self._counts is not None:
            count, mean = self._counts
            low, high = self._ends or (0.0, 0.0)
            try:
                histogram = from_counts(self._buckets, US_PER_S)
            except ValueError:  # lines of two threads ran together
                histogram = Histogram(())
            whole = self._ends is not None and histogram.count == count
            state = self._median, self._percentiles, tuple(self._shares), self._deviation
            self._done.append(HistogramBlock(self._operation, count, mean, low, high, histogram, whole, *state))
        self._operation, self._counts, self._ends, self._buckets = "", None, None, []
        self._deviation = ""
        self._median, self._percentiles, self._shares = "", (), []

    def end(self) -> tuple[HistogramBlock, ...]:
        self.finish()
        return tuple(self._done)


class _Found:
    """The results of the lines read so far. Each kind of line has a pattern, and a method that records a match."""

    def __init__(self) -> None:
        self.headlines: list[Headline] = []
        self.blocks = _Blocks()
        self.tickers: dict[str, Tickers] = {}
        self.warnings: dict[str, None] = {}
        self.errors: dict[str, None] = {}
        self.status: list[Status] = []
        self.head: dict[str, tuple[str, str]] = {}
        self.oddities: list[str] = []
        self.version = ""
        self.date: datetime | None = None
        self.written: tuple[int, int] | None = None

    def add(self, line: str, kinds: Sequence[_Kind]) -> None:
        for pattern, note in kinds:
            if match := pattern.match(line):
                note(self, match)
                return
        self.blocks.feed(line)

    def note_status(self, match: re.Match[str]) -> None:
        with suppress(ValueError):  # a 13th month
            self.status.append(_status(match))

    def note_headline(self, match: re.Match[str]) -> None:
        self.headlines.append(_headline(match))

    def note_no_headline(self, match: re.Match[str]) -> None:
        self.oddities.append(f"`{match.string[:80]}` is not a whole result of db_bench")

    def note_head(self, match: re.Match[str]) -> None:
        self.head.setdefault(match[1], (match[2], match[3].strip()))

    def note_no_head(self, match: re.Match[str]) -> None:
        self.oddities.append(f"`{match.string[:80]}` is no size of db_bench")

    def note_version(self, match: re.Match[str]) -> None:
        self.version = match[1]

    def note_date(self, match: re.Match[str]) -> None:
        with suppress(ValueError):
            self.date = datetime.strptime(match[1], "%b %d %H:%M:%S %Y").replace(tzinfo=UTC)

    def note_warning(self, match: re.Match[str]) -> None:
        self.warnings[say.assertions() if match[1] == _ASSERTIONS else match[1]] = None

    def note_error(self, match: re.Match[str]) -> None:
        self.errors[match.string] = None

    def note_ticker(self, match: re.Match[str]) -> None:
        if match[2] is not None:
            self.tickers[match[1]] = Tickers(int(match[2]), None, 0.0, ())
        elif sums := _SUMS.search(match.string):
            count = int(sums[1])
            self.tickers[match[1]] = Tickers(
                count,
                int(sums[2]) / count / 1e6 if count else None,
                float(match[6]) / 1e6,
                tuple((p, float(match[group]) / 1e6) for p, group in ((50.0, 3), (95.0, 4), (99.0, 5))),
            )

    def note_table(self, _: re.Match[str]) -> None:
        """End the current block, because a table of RocksDB's own statistics begins. That table may have histograms,
        too."""
        self.blocks.finish()

    def note_keys(self, match: re.Match[str]) -> None:
        """Add the bounds for the keys written to one database to the sum over the process's databases."""
        (low, high), unit = self.written or (0, 0), _UNITS[match[2]]
        least = int(match[1]) * unit
        self.written = low + least, high + least + unit - 1


_Kind = tuple[re.Pattern[str], Callable[[_Found, re.Match[str]], None]]
_ANYWHERE: tuple[_Kind, ...] = (
    (_STATUS, _Found.note_status),
    (_HEADLINE, _Found.note_headline),
    (_BEGUN, _Found.note_no_headline),
    (_HEAD, _Found.note_head),
    (_HEAD_BEGUN, _Found.note_no_head),
    (_VERSION, _Found.note_version),
    (_DATE, _Found.note_date),
    (_WARNING, _Found.note_warning),
)
_OF_ROCKSDB: tuple[_Kind, ...] = ((_TICKER, _Found.note_ticker), (_TABLE, _Found.note_table))
_IN_STDERR = (*_ANYWHERE, (_ERROR, _Found.note_error), *_OF_ROCKSDB)
# `--stats_per_interval` repeats the keys on standard error.
_IN_STDOUT = (*_ANYWHERE, *_OF_ROCKSDB, (_KEYS_WRITTEN, _Found.note_keys))


def read(stdout: Iterable[str], stderr: Iterable[str]) -> DbBenchOutput:
    """Read an output, even if it is incomplete. The driver decides whether it is complete enough."""
    found = _Found()
    # The banner and errors go to standard error in some versions, and to standard output in others.
    for lines, kinds in ((stdout, _IN_STDOUT), (stderr, _IN_STDERR)):
        for raw in lines:
            if not is_line(raw):
                found.add(_PROGRESS.sub("", raw).strip(), kinds)
    return DbBenchOutput(
        tuple(found.headlines),
        found.blocks.end(),
        found.tickers,
        tuple(found.warnings),
        tuple(found.errors),
        tuple(found.status),
        found.version,
        found.date,
        found.head,
        (*found.oddities, *found.blocks.oddities),
        found.written,
    )


def read_intervals(report: Iterable[str]) -> tuple[tuple[float, float, int], ...]:
    """Return (start, seconds, operations) from a `--report_file`, whose rows count operations since the previous row.

    The file lacks the last partial interval. A half-written last line is left out.
    """
    found: list[tuple[float, float, int]] = []
    before = 0.0
    for line in report:
        elapsed, _, count = line.partition(",")
        if _WHOLE.fullmatch(elapsed.strip()) and _WHOLE.fullmatch(count.strip()) and int(elapsed) > before:
            found.append((before, int(elapsed) - before, int(count)))
            before = float(elapsed)
    return tuple(found)


def count_by_second(status: Iterable[Status], seconds: float, count: int) -> tuple[tuple[float, float, int], ...]:
    """Return (start, seconds, operations) for threads that together did `count` operations in `seconds`.

    Threads print cumulative counts near each second, not exactly at it, so counts are interpolated between the lines of
    the same thread. The time after the last full second becomes a separate interval, unless it is short.
    """
    by_thread: dict[int, list[tuple[float, int]]] = defaultdict(lambda: [(0.0, 0)])
    for line in status:
        by_thread[line.thread].append((line.seconds, line.count))
    if not by_thread:
        return ()
    whole = int(min(points[-1][0] for points in by_thread.values()))
    totals = [round(sum(_at(points, second) for points in by_thread.values())) for second in range(whole + 1)]
    found = [(float(i), 1.0, totals[i + 1] - totals[i]) for i in range(whole)]
    if seconds - whole >= 0.5 and count >= totals[whole]:
        found.append((float(whole), seconds - whole, count - totals[whole]))
    return tuple(found)


def _at(points: list[tuple[float, int]], second: float) -> float:
    for (t0, c0), (t1, c1) in pairwise(points):
        if t1 >= second:
            return c0 + (c1 - c0) * (second - t0) / (t1 - t0) if t1 > t0 else float(c1)
    return float(points[-1][1])


def started_at(output: DbBenchOutput, job_started_at: float, job_ended_at: float, seconds: float) -> float:
    """Return when the benchmark began, in epoch seconds by the host's clock.

    The benchmark began after the job's start, and no later than its own length before the job's end. As opening and
    closing a large database take a while, the status lines narrow this down: they print the wall clock in whole seconds
    and the elapsed time. The host's time zone is the difference between the banner's date and the job's start, to the
    nearest quarter of an hour.
    """
    earliest, latest = job_started_at, job_ended_at - seconds
    if output.date is not None and output.status:
        zone = round((output.date.timestamp() - job_started_at) / 900) * 900
        after = max(earliest, max(s.clock.timestamp() - s.seconds for s in output.status) - zone)
        before = min(latest, min(s.clock.timestamp() + 1 - s.seconds for s in output.status) - zone)
        if after <= before:
            earliest, latest = after, before
    return (earliest + latest) / 2

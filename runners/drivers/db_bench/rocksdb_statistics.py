"""RocksDB's own statistics over time, as db_bench prints them after a benchmark: the probe `database` of a library.

RocksDB can record at regular intervals how much each of its counters has grown (`stats_persist_period_sec`).
db_bench's pseudo-benchmark `stats_history` prints that, a line for each counter (read from 7.8.3):

    ------ Sat Nov 21 14:16:20 2026 ------
     1795270580   rocksdb.block.cache.hit  13255

So counts from opening and closing the database are left out, and so are a load and a warm-up, which are other
processes. The first interval has no line, nor has the incomplete one at the end.

The cost: RocksDB's wiki puts all statistics at 5 to 10 %. For the counters alone, interleaved runs on two busy cores
showed no difference: CPU time for each read rose by 2 % in the median of 10 pairs (95 % interval -25 % to 30 %), and
that for each overwrite fell by 4 % (9 pairs, -15 % to 11 %).

Other ways disturb more. `--stats_per_interval` prints whole tables with each status line, between those of the threads.
`stats_dump_period_sec` writes them, with all histograms, into a LOG file beside the data. The totals at the end include
the opening, and have no times.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchbrief.runners.measurement.measurement import Sample

BENCHMARK = "stats_history"

_LINE = re.compile(r"\s*(\d{9,11})\s+(rocksdb\.[\w.]+)\s+(\d{1,19})\s*\Z")
_KEPT_BYTES = 256 << 20
"""How much RocksDB may keep: about five hours of seconds. It drops the oldest first, which the coverage then shows."""
PRINTED_BYTES = 1 << 30
"""More than db_bench can print of this."""
_COUNTERS_ALONE = 1
"""`kExceptHistogramOrTimers` of RocksDB's StatsLevel: it reads no clock."""

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
"""The measures that are rates, their units, and the counters whose sum each is."""

COUNTERS = frozenset({_STALL, *_TO_STORAGE, *(name for _, names in _RATES.values() for name in names)})
"""The counters that measures are made of."""


@dataclass(frozen=True)
class Slice:
    """How much counters grew in one interval, which ended at `ended` (epoch seconds, by the host's clock).

    db_bench prints the second alone: on average, an interval ends in the middle of it.
    """

    ended: float
    grew: Mapping[str, int]


def statistics_flags(every_s: float, given: Mapping[str, str]) -> dict[str, str]:
    """Return the flags that make RocksDB keep its counters. `given` are existing flags, whose statistics stay."""
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


def read_slices(lines: Iterable[str]) -> tuple[Slice, ...]:
    """Return the history's counters that measures are made of, in order of time."""
    found: dict[int, dict[str, int]] = {}
    for line in lines:
        if line.startswith(" ") and "rocksdb." in line and (match := _LINE.match(line)) and match[2] in COUNTERS:
            found.setdefault(int(match[1]), {})[match[2]] = int(match[3])
    return tuple(Slice(ended + 0.5, found[ended]) for ended in sorted(found))


def make_samples(found: Sequence[Slice], every_s: float, node: str, window: tuple[float, float]) -> tuple[Sample, ...]:
    """Return rates for each interval inside the window, and one ratio each for all of them. Missing counters give
    none."""
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


def _inside(found: Sequence[Slice], every_s: float, window: tuple[float, float]) -> Iterator[Slice]:
    """Yield those inside the window, as far as that is known."""
    for each in found:
        if each.ended - every_s >= window[0] - 0.5 and each.ended <= window[1] + 0.5:
            yield each


def _seconds(ended: Sequence[float], every_s: float) -> float:
    """Return the length of an interval in seconds. On a busy host it is a little longer than asked for.

    Ends are known in whole seconds, so the length follows from many of them.
    """
    if len(ended) < 2:
        return every_s
    span, asked = ended[-1] - ended[0], (len(ended) - 1) * every_s
    return span / (len(ended) - 1) if abs(span - asked) > 1 else every_s


def _ratios(inside: Sequence[Slice], seconds: float) -> Iterator[tuple[str, float]]:
    hits, misses, written, stalled = (_total(inside, name) for name in (_HITS, _MISSES, _WRITTEN, _STALL))
    if hits is not None and misses is not None and hits + misses > 0:
        yield "database.cache_hit_ratio", hits / (hits + misses)
    if stalled is not None:
        # A stall is counted when it is over, and may have begun before.
        yield "database.stalled", min(1.0, stalled / 1e6 / seconds)
    stored = [total for name in _TO_STORAGE if (total := _total(inside, name)) is not None]
    if written and len(stored) == len(_TO_STORAGE):
        yield "database.write_amplification", sum(stored) / written


def _total(inside: Sequence[Slice], name: str) -> int | None:
    """Sum one counter; None when an interval lacks it."""
    counts = [each.grew[name] for each in inside if name in each.grew]
    return sum(counts) if len(counts) == len(inside) else None

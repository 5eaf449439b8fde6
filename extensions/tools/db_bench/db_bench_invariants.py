"""The rules that db_bench's output must keep.

The rules follow db_bench's source: `Stats::Report` (tools/db_bench_tool.cc) and `HistogramStat`
(monitoring/histogram.cc).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import exp, sqrt

from benchbrief.extend import histograms as h
from benchbrief.extend import invariants as rule
from benchbrief.extend.common import BadOutput, share_figure
from benchbrief.extend.invariants import QUANTISED, Invariant, Printed, parse_printed
from benchbrief.extend.tools import CellContext, Histogram
from benchbrief.extensions.tools.db_bench.db_bench_output import DbBenchOutput, Headline, HistogramBlock, say

_BY_FILLRANDOM = 1 - exp(-1)
_DEVIATIONS = 6


def require_found(context: CellContext, headline: Headline) -> None:
    """Raise BadOutput if more lookups found no key than the experiment's `max_errors` allows. Data that a user's
    command seems to have filled by fillrandom are accepted, since they lack keys."""
    missing = _missing(headline)
    if not missing or headline.found is None:
        return
    hits, asked = headline.found
    if missing <= context.accepted_errors * asked:
        return
    records = float(context.workload.properties["records"])
    if context.database.reset == "command" and _fits_fillrandom(hits, asked, records):
        return
    if not hits:
        raise BadOutput(say.found_none(benchmark=headline.name, asked=asked), say.hint_keys())
    raise BadOutput(
        say.found_other(benchmark=headline.name, hits=hits, asked=asked, share=share_figure(hits / asked, 2)),
        say.hint_found_other(),
    )


def warn_of_few_found(headline: Headline) -> tuple[str, ...]:
    """Return a warning if some of the keys that were looked up do not exist."""
    if not _missing(headline) or headline.found is None:
        return ()
    hits, asked = headline.found
    return (say.found_fewer(benchmark=headline.name, share=share_figure(hits / asked, 1)),)


def _missing(headline: Headline) -> int:
    if headline.found is None or headline.name == "readmissing":
        return 0
    hits, asked = headline.found
    return max(0, asked - hits)


def _fits_fillrandom(hits: int, asked: int, records: float) -> bool:
    """Return whether the share of keys found fits a load by fillrandom. fillrandom draws each key at random, so it
    writes some keys several times and others never."""
    variance = _BY_FILLRANDOM * (1 - _BY_FILLRANDOM) * (1 / asked + 1 / records)
    return abs(hits / asked - _BY_FILLRANDOM) <= _DEVIATIONS * sqrt(variance)


_MB = 1048576.0
_WRITES = frozenset({"fillseq", "fillrandom", "filluniquerandom", "overwrite", "fillsync"})
"""Benchmarks that write one key and one value in every operation, of the sizes printed at the top of the output."""
_READS = frozenset({"readrandom", "readwhilewriting"})
_IDLE = 0.9
"""The smallest share of the threads' time that histograms must fill if no rate is limited. Each operation is timed from
the end of the previous one, so only the work that a thread does after its last operation is missing. In practice that
is below 0.1 %.
"""
_TIMED = ("read", "seek", "fill", "overwrite", "update", "append", "delete")
"""Prefixes of benchmarks whose threads spend all their time on operations."""
_MANY = 1000
_SHARE_OFF = 0.01
"""How far the share of keys found by one thread may differ from that of all threads, apart from chance."""
_THREADS_MORE, _THREADS_FEWER = 1.01, 0.55
"""The most and the fewest threads that may run at once, as shares of the cell's threads. Some end early or begin late:
in real runs on two busy cores, 2 threads were 0.94 of 2, and 96 were 0.75 of 96."""
_TURN_S = 0.02
"""How many seconds apart threads may begin and end, per thread of the run. Threads share few processors, and each runs
for some milliseconds in turn. 256 readers on two cores were up to 5 s apart."""
_LONG_S = 5.0
"""If a run is shorter than this, in seconds, starting and ending threads may take most of its time."""


@dataclass(frozen=True)
class CheckedBenchmark:
    """A benchmark's result, and the whole output around it. `threads` is None if unknown."""

    text: DbBenchOutput
    headline: Headline
    threads: int | None = None

    @property
    def blocks(self) -> tuple[HistogramBlock, ...]:
        return tuple(block for block in self.text.blocks if block.operation not in ("compress", "uncompress"))

    def cell(self, name: str) -> Printed | None:
        return parse_printed(self.headline.cells.get(name, ""))

    def head(self, name: str) -> Printed | None:
        return parse_printed(self.text.head[name][0]) if name in self.text.head else None

    @property
    def seconds(self) -> float:
        """Return how many seconds the benchmark ran. If db_bench does not print them, compute them from its rate."""
        if self.headline.seconds is not None:
            return self.headline.seconds
        done = self.headline.operations or sum(block.count for block in self.blocks)
        return done / self.headline.ops_per_s if self.headline.ops_per_s > 0 else 0.0

    def size(self) -> float | None:
        """Return the size of a key and its value together in bytes, or None if values have several sizes."""
        each = [self.text.head.get(name, ("", "")) for name in ("Keys", "Values")]
        if not all(rest.startswith("bytes each") for _, rest in each):
            return None
        return sum(float(text) for text, _ in each)


def find_problems(text: DbBenchOutput, headline: Headline, threads: int | None = None) -> list[str]:
    """Return the contradictions in an output, each with the values that disagree."""
    return list(rule.find_broken(TABLE, CheckedBenchmark(text, headline, threads)))


def _each_once(output: CheckedBenchmark) -> Iterator[str]:
    yield from output.text.oddities
    for name, times in Counter(each.name for each in output.text.headlines).items():
        if times > 1:
            yield f"{name} has {times} results"
    for name, times in Counter(block.operation for block in output.text.blocks).items():
        if times > 1:
            counts = " and ".join(f"{block.count}" for block in output.blocks if block.operation == name)
            yield f"the operation {name} has {times} histograms: of {counts} operations"


def _rate(output: CheckedBenchmark) -> Iterator[str]:
    """Check that rate times seconds is the number of operations. The printed rate is truncated to a whole number, and
    the printed seconds are rounded."""
    seconds, done = output.cell("seconds"), output.headline.operations
    if seconds is None or done is None:
        return
    rate = output.headline.ops_per_s
    least, most = rate * (seconds.value - seconds.off), (rate + 1) * (seconds.value + seconds.off)
    if not least <= done <= most:
        computed = f"{rate} ops/sec in {seconds} seconds are {rule.format_number(round(rate * seconds.value))}"
        yield f"{output.headline.name} did {done} operations, and {computed}"


def overlap(threads: int, seconds: float) -> float:
    """Return the share of a run during which all of its threads certainly run. Returns 0 if the run is too short for
    every thread to have a turn."""
    return max(0.0, 1 - threads * _TURN_S / seconds) if seconds > 0 else 0.0


def _threads(output: CheckedBenchmark) -> Iterator[str]:
    """Check the number of threads: micros/op is the time of one thread, and the rate is the rate of all threads."""
    micros = output.cell("micros")
    if micros is None:
        return
    name, rate = output.headline.name, output.headline.ops_per_s
    at_once = micros.value * rate / 1e6
    off = (micros.off * (rate + 1) + micros.value) / 1e6
    computed = f"{micros} micros/op at {rate} ops/sec are of {at_once:.2g} threads at once"
    if output.threads and at_once - off > _THREADS_MORE * output.threads:
        yield f"{name} ran with {output.threads} threads, and {computed}"
    elif (output.threads or output.seconds > _LONG_S) and at_once + off < fewest(output.threads or 1, output.seconds):
        yield f"{name} ran with {output.threads or 'at least 1'} threads, and {computed}"


def fewest(threads: int, seconds: float) -> float:
    """Return how few threads may seem to run at once in a good run with this many threads."""
    return _THREADS_FEWER * threads * overlap(threads, seconds)


def _whole_histograms(output: CheckedBenchmark) -> Iterator[str]:
    for block in output.blocks:
        held = block.histogram.count
        if not block.whole:
            yield f"the histogram of {block.operation} counts {block.count}, and its buckets hold {held}: it was cut"
        elif block.count and not block.percentiles:
            yield f"the histogram of {block.operation} has no line of percentiles"


def _edges(output: CheckedBenchmark) -> Iterator[str]:
    """Check that each limit of a bucket is 1.5 times the previous limit, truncated to two digits
    (`HistogramBucketMapper`). Versions before 5 have narrower buckets and are not checked."""
    if output.text.version and int(output.text.version.partition(".")[0][:4]) < _FIRST_WITH_LIMITS:
        return
    for block in output.blocks:
        for bucket in block.histogram.buckets:
            low, high = round(bucket.lo * 1e6), round(bucket.hi * 1e6)
            if _NEXT.get(low) != high:
                own = f"RocksDB's from {low} is to {_NEXT[low]}" if low in _NEXT else f"none of RocksDB's is from {low}"
                yield f"the histogram of {block.operation} has a bucket from {low} to {high}, and {own}"
                break


def _limits() -> dict[int, int]:
    limits, value = [0, 1, 2], 2.0
    while (value := value * 1.5) < 1e19:
        power = 10 ** max(0, len(str(int(value))) - 2)
        limits.append(int(value) // power * power)
    return dict(pairwise(limits))


_NEXT = _limits()
_FIRST_WITH_LIMITS = 5


def _shares(output: CheckedBenchmark) -> Iterator[str]:
    """Check the two shares printed beside each bucket: its own share, and the cumulative share up to that bucket."""
    for block in output.blocks:
        below = 0
        for count, own, upto in block.shares:
            below += count
            for text, counted in ((own, count), (upto, below)):
                share, said = 100 * counted / max(1, block.count), parse_printed(text)
                if said is not None and abs(said.value - share) > said.off * 1.01 + 1e-9:
                    yield f"the histogram of {block.operation} has a share of {text} % for {counted} of {block.count}"


def _percentiles(output: CheckedBenchmark) -> Iterator[str]:
    """Check that percentiles are interpolated in the buckets, between minimum and maximum
    (`HistogramStat::Percentile`)."""
    for block in output.blocks:
        if not block.whole or not block.histogram.buckets:
            continue
        for name, text in (("50", block.median), *block.percentiles):
            percent, said = float(name), parse_printed(text)
            if said is None or percent > 100:
                yield f"the histogram of {block.operation} has P{name}: {text}"
                continue
            at = min(max(h.percentile(block.histogram, percent), block.min_s), block.max_s) * 1e6
            if abs(at - said.value) > said.off * 1.01 + 1e-6 * at:
                yield f"the histogram of {block.operation} has P{name} of {text} us, and its buckets give {at:.2f} us"


def _ends(output: CheckedBenchmark) -> Iterator[str]:
    for block in output.blocks:
        name = f"the histogram of {block.operation}"
        if block.whole:
            yield from rule.check_bucket_ends(name, block.histogram, block.min_s, block.max_s, 0.51e-6)
            yield from rule.check_bucket_mean(name, block.histogram, block.mean_s)
            if block.count and not block.min_s - 1e-6 <= block.mean_s <= block.max_s + 1e-6:
                bounds = f"{rule.format_seconds(block.min_s)} to {rule.format_seconds(block.max_s)}"
                yield f"{name} has a mean of {rule.format_seconds(block.mean_s)}, and latencies from {bounds}"


def _spread(output: CheckedBenchmark) -> Iterator[str]:
    """Check that the latencies can have the printed standard deviation. A deviation of nan is not checked: it means
    that RocksDB printed the buckets while it was still counting."""
    for block in output.blocks:
        said = parse_printed(block.deviation)
        if said is not None and block.whole and block.count:
            edges = Histogram(
                tuple(
                    bucket._replace(lo=max(bucket.lo, block.min_s), hi=max(block.min_s, min(bucket.hi, block.max_s)))
                    for bucket in block.histogram.buckets
                )
            )
            name = f"the histogram of {block.operation}"
            yield from rule.check_bucket_spread(name, edges, block.mean_s, said.value / 1e6, 1.5 * said.off / 1e6)


def _counts(output: CheckedBenchmark) -> Iterator[str]:
    """Check that each operation has one latency. A batch of writes or reads is one operation in this respect."""
    done, timed = output.headline.operations, sum(block.count for block in output.blocks)
    if done is None or not output.blocks or not timed:
        return
    batched = "multi" in output.headline.name or any(block.operation == "write" for block in output.blocks)
    if done == timed or (batched and len(output.blocks) == 1 and done % timed == 0):
        return
    yield f"{output.headline.name} did {done} operations, and its histograms count {timed}"


def _busy(output: CheckedBenchmark) -> Iterator[str]:
    """Check that the latencies fill the time that micros/op gives to the operations, and do not exceed it.

    A thread's first operation is timed from the creation of the thread (`Stats::Start` takes the old `start_`), so each
    thread may have up to one latency more than its time. A batch is one latency. The batch size is unknown if the
    number of operations is not printed.
    """
    micros = output.cell("micros")
    timed = sum(block.count for block in output.blocks)
    if micros is None or not timed:
        return
    done = output.headline.operations or timed
    mean = sum(block.count * block.mean_s for block in output.blocks) / done * 1e6
    stated = f"{output.headline.name} took {micros} micros/op, and its histograms have a mean of {mean:.4f} us"
    threads = output.threads or 2 * max(1.0, micros.value * output.headline.ops_per_s / 1e6)
    first = threads * max(block.max_s for block in output.blocks) * 1e6 / done
    batched = output.headline.operations is None and any(block.operation == "write" for block in output.blocks)
    if not batched and mean > (micros.value + micros.off) * (1 + QUANTISED) + first:
        yield stated
    limited = [output.head(name) for name in ("Write rate", "Read rate")]
    unlimited = all(each is not None and each.value == 0 for each in limited)
    if output.headline.name.startswith(_TIMED) and unlimited and timed >= _MANY and mean < _IDLE * micros.value:
        yield stated


def _data(output: CheckedBenchmark) -> Iterator[str]:
    """Check that RawSize is the size of `Entries` keys and values, in MB of 2^20 bytes."""
    entries, raw, size = output.head("Entries"), output.head("RawSize"), output.size()
    if entries is None or raw is None or size is None:
        return
    if abs(entries.value * size / _MB - raw.value) > raw.off * 1.01:
        computed = f"{entries} entries of {rule.format_number(size)} bytes are {entries.value * size / _MB:.1f} MB"
        yield f"RawSize is {raw} MB, and {computed}"


_AFTER = re.compile(r"bytes each \((\d+) bytes after compression\)")


def _whole_sizes(output: CheckedBenchmark) -> Iterator[str]:
    """Check that the sizes at the top are whole numbers, and that a value's size is printed both before and after
    compression."""
    for name, (text, rest) in output.text.head.items():
        size = f"{text} {rest}"
        if name == "Values" and rest.startswith("bytes each") and not _AFTER.fullmatch(rest):
            yield f"Values is `{size[:60]}`: db_bench prints their bytes after compression, too"
        elif name in ("Keys", "Values", "Entries") and not text.isdecimal():
            yield f"{name} is `{size[:60]}`, which is no whole number"


def _compressed(output: CheckedBenchmark) -> Iterator[str]:
    """Check that FileSize is the size of `Entries` keys and compressed values, in MB of 2^20 bytes."""
    entries, size, keys = output.head("Entries"), output.head("FileSize"), output.head("Keys")
    after = _AFTER.match(output.text.head.get("Values", ("", ""))[1])
    if entries is None or size is None or keys is None or after is None or output.size() is None:
        return
    each = keys.value + float(after[1])
    if abs(entries.value * each / _MB - size.value) > size.off * 1.01 + entries.value / _MB:
        computed = f"{entries} entries of {rule.format_number(each)} bytes after compression"
        yield f"FileSize is {size} MB, and {computed} are {entries.value * each / _MB:.1f} MB"


def _written(output: CheckedBenchmark) -> Iterator[str]:
    """Check that the bytes written per second equal the rate times the size of a key and a value."""
    mb, size = output.cell("mb_per_s"), output.size()
    keys = output.text.head.get("Keys", ("", ""))[1]
    stamped = "(+" in keys and "(+ 0 bytes" not in keys
    if mb is None or size is None or stamped or output.headline.name not in _WRITES:
        return
    least, most = output.headline.ops_per_s * size / _MB, (output.headline.ops_per_s + 1) * size / _MB
    if not least - mb.off * 1.01 <= mb.value <= most + mb.off * 1.01:
        computed = f"{output.headline.ops_per_s} ops/sec of {rule.format_number(size)} bytes are {least:.1f} MB/s"
        yield f"{output.headline.name} wrote {mb} MB/s, and {computed}"


def _read(output: CheckedBenchmark) -> Iterator[str]:
    """Check that the bytes read per second are the product of the rate, the share of keys found, and the size of a key
    and a value.

    Only one thread prints the share that it found, so the share of all threads may differ by chance.
    """
    mb, size, found = output.cell("mb_per_s"), output.size(), output.headline.found
    if mb is None or size is None or found is None or output.headline.name not in _READS:
        return
    hits, asked = found
    if not 0 <= hits <= asked or not asked:
        return
    likely = (hits + 1) / (asked + 2)
    chance = 5 * math.sqrt(likely * (1 - likely) / asked) + _SHARE_OFF
    least, share, most = (min(1.0, max(0.0, hits / asked + off)) for off in (-chance, 0.0, chance))
    rate = output.headline.ops_per_s
    low, high = rate * least * size / _MB, (rate + 1) * most * size / _MB
    if not low - mb.off * 1.01 <= mb.value <= high + mb.off * 1.01:
        computed = f"{rate} ops/sec of {rule.format_number(size)} bytes with {hits} of {asked} found"
        yield f"{output.headline.name} read {mb} MB/s, and {computed} are {rate * share * size / _MB:.1f}"


def _found(output: CheckedBenchmark) -> Iterator[str]:
    """Check that a thread found no more keys than it asked for, and asked for no more than all threads together."""
    if output.headline.found is None:
        return
    hits, asked = output.headline.found
    done = output.headline.operations or sum(block.count for block in output.blocks)
    if hits > asked or min(hits, asked) < 0:
        yield f"{output.headline.name} found {hits} of {asked} keys"
    elif done and asked > done and "multi" not in output.headline.name:
        yield f"a thread of {output.headline.name} asked for {asked} keys, and all of them did {done} operations"
    elif done and output.threads == 1 and asked != done and output.headline.name in _READS:
        yield f"the thread of {output.headline.name} asked for {asked} keys, and did {done} operations"


def _looked_up(output: CheckedBenchmark) -> Iterator[str]:
    """Check the latencies of benchmarks that look up keys. They must have latencies only for reads, since the
    background writer of readwhilewriting has no histogram."""
    others = [block.operation for block in output.blocks if block.operation != "read"]
    if output.headline.name in _READS and others:
        yield f"{output.headline.name} reads, and has a histogram of the operation {others[0]}"


TABLE: tuple[Invariant[CheckedBenchmark], ...] = (
    Invariant("One result of a benchmark, one histogram of an operation, each line whole", _each_once),
    Invariant("`ops/sec` x `seconds` is `operations`", _rate),
    Invariant("`micros/op` x `ops/sec` is the threads that ran at once", _threads),
    Invariant("A histogram's buckets hold its `Count`", _whole_histograms),
    Invariant("Buckets are between RocksDB's limits", _edges),
    Invariant("The shares beside buckets are those of their counts", _shares),
    Invariant("`Median` and `Percentiles` are those of the buckets", _percentiles),
    Invariant("`Min`, `Average` and `Max` lie where the buckets have latencies", _ends),
    Invariant("`StdDev` is one that latencies in the buckets can have", _spread),
    Invariant("The histograms count `operations`", _counts),
    Invariant("`Average` is `micros/op`, but for what a thread does before its first and after its last one", _busy),
    Invariant("`Keys`, `Values` and `Entries` are whole numbers, `Values` also after compression", _whole_sizes),
    Invariant("`RawSize` is `Entries` x (`Keys` + `Values`)", _data),
    Invariant("`FileSize` is `Entries` x (`Keys` + `Values` after compression)", _compressed),
    Invariant("Of writes, `MB/s` is `ops/sec` x (`Keys` + `Values`)", _written),
    Invariant("Of reads, `MB/s` is `ops/sec` x the share found x (`Keys` + `Values`)", _read),
    Invariant("`readrandom` and `readwhilewriting` have a histogram of reads alone", _looked_up),
    Invariant("`(x of y found)`: x is within y, and y within the operations", _found),
)

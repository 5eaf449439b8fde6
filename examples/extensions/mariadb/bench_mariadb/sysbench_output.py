"""Parses the output of a sysbench run, and finds contradictions in it: https://github.com/akopytov/sysbench."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bench_mariadb.messages import say_mariadb
from benchbrief.extend.common import Cell, Sample, say
from benchbrief.extend.tools import Bucket, Histogram, Interval, Measurement, Operation, PhaseThroughput, judge_window

_MS = 1000.0
_LOWEST_MS, _HIGHEST_MS, _BUCKETS = 0.001, 100_000.0, 1024
"""The buckets of sysbench's histogram, which are equally wide on a logarithmic scale. sysbench prints the middle of
each."""
_WIDTH = math.log(_HIGHEST_MS / _LOWEST_MS) / (_BUCKETS - 1)

_HEAD = re.compile(r"sysbench (\d[\w.]*)")
_VALUE = re.compile(
    r"\s*([A-Za-z0-9][\w /()]*?):\s+(\d+(?:\.\d+)?)s?(?:/sec|/[\d.]+)?(?:\s*\((\d+(?:\.\d+)?) per sec\.\))?"
)
_BUCKET = re.compile(r"\s*(\d+\.\d+) \|\**\s+(\d+)")
_SECOND = re.compile(r"\[ (\d+)s \] thds: \d+ tps: ([\d.]+) qps: ([\d.]+) .* lat \(ms,(\d+)%\): ([\d.]+)")
_QUEUE = re.compile(r"\[ (\d+)s \] queue length: (\d+)")
_PERCENTILE = re.compile(r"(\d+)th percentile")
_LAST = "execution time (avg/stddev)"
_NEEDED = (
    "Number of threads",
    "transactions",
    "total time",
    "total number of events",
    "avg",
    "sum",
    "max",
    "min",
    _LAST,
)


class NotWhole(ValueError):
    """Raised if the text is not the output of a complete run."""

    def __init__(self, why: str, line: int | None = None) -> None:
        super().__init__(why)
        self.line = line


@dataclass(frozen=True)
class Second:
    """A report line about the last second: when that second ended, and its rates. `latency_s` is the latency at the
    percentile `percent`."""

    end: int
    transactions: float
    queries: float
    percent: int
    latency_s: float


@dataclass(frozen=True)
class Summary:
    """The parsed output of a run. `rates` are per second, and times are in seconds."""

    version: str
    value: dict[str, float]
    rates: dict[str, float]
    buckets: Counter[int]
    seconds: tuple[Second, ...]
    queue: tuple[tuple[int, int], ...]

    @property
    def count(self) -> int:
        return int(self.value["transactions"])

    @property
    def took(self) -> float:
        return self.value["total time"]

    @property
    def offered(self) -> float | None:
        return self.value.get("Target transaction rate")


def read_summary(lines: Iterable[str]) -> Summary:
    """Parse the output of a run. Raises NotWhole."""
    version, value, rates, buckets = "", dict[str, float](), dict[str, float](), Counter[int]()
    seconds, queue = list[Second](), list[tuple[int, int]]()
    number = 0
    for number, line in enumerate(lines, start=1):
        if match := _HEAD.match(line):
            if version:
                raise NotWhole("a second run begins", number)
            version = match[1]
        elif match := _SECOND.match(line):
            end, percent = int(match[1]), int(match[4])
            seconds.append(Second(end, float(match[2]), float(match[3]), percent, float(match[5]) / _MS))
        elif match := _QUEUE.match(line):
            queue.append((int(match[1]), int(match[2])))
        elif match := _BUCKET.fullmatch(line):
            buckets[round(math.log(float(match[1]) / _LOWEST_MS) / _WIDTH)] += int(match[2])
        elif match := _VALUE.fullmatch(line):
            value[match[1]] = float(match[2])
            if match[3]:
                rates[match[1]] = float(match[3])
    lacking = [each for each in _NEEDED if each not in value]
    if not version or lacking:
        raise NotWhole(
            f"it has no {lacking[0]}" if version else "it has no line with its version", number if version else None
        )
    return Summary(version, value, rates, buckets, tuple(seconds), tuple(queue))


def contradictions(found: Summary) -> Iterator[str]:
    """Yield the contradictions between printed numbers, each with both values. Differences due to rounding are
    ignored."""
    value, count, took = found.value, found.count, found.took
    if not count or not took:
        return
    # The rate is over the time of the last report, which is a little shorter or longer.
    if (rate := found.rates.get("transactions")) and not math.isclose(count / took, rate, rel_tol=0.01, abs_tol=0.02):
        yield f"{count} transactions in {took} s are not {rate} a second"
    if value["total number of events"] != count:
        yield f"it did {count} transactions, and {value['total number of events']:.0f} events"
    if not math.isclose(value["sum"], value["avg"] * count, abs_tol=0.006 * count + 0.01):
        yield f"{count} latencies of {value['avg']} ms on average do not add up to {value['sum']} ms"
    if found.buckets and found.buckets.total() != count:
        yield f"it did {count} transactions, and its histogram has {found.buckets.total()}"
    if not value["min"] <= value["avg"] <= value["max"]:
        yield f"its average of {value['avg']} ms is not between {value['min']} and {value['max']} ms"
    each = value.get("events (avg/stddev)", math.nan)
    if not math.isnan(each) and not math.isclose(each * value["Number of threads"], count, rel_tol=1e-6, abs_tol=0.01):
        yield f"{value['Number of threads']:.0f} threads with {each} transactions each did not do {count}"


def measurement(
    found: Summary, began: float, cell: Cell | None = None, more: tuple[tuple[str, str], ...] = ()
) -> Measurement:
    """Return the measurement of the whole run, given when it began."""
    value, printed = found.value, tuple[tuple[float, float], ...]()
    if not found.buckets:
        shown = ((match[1], key) for key in value if (match := _PERCENTILE.fullmatch(key)))
        printed = tuple((float(percent), value[key] / _MS) for percent, key in shown)
    offered = found.offered is not None
    operation = Operation(
        operation="transaction",
        count=found.count,
        mean_s=value["avg"] / _MS,
        min_s=value["min"] / _MS,
        max_s=value["max"] / _MS,
        histogram=_histogram(found.buckets) if found.buckets else None,
        printed=printed,
        kind="intended" if offered else "service",
    )
    intervals = tuple(_intervals(found))
    unsteady, described = judge_window(intervals, say.remedy_warm_up(), cell.events if cell else ())
    retried = int(value.get("ignored errors", 0))
    properties = {
        "latency": say_mariadb.sysbench_intended() if offered else say.latency_service(),
        "loop": say.loop_open() if offered else say.loop_closed(),
        "percentiles": say_mariadb.sysbench_percentiles() if found.buckets else say_mariadb.sysbench_printed(),
        **described,
    }
    return Measurement(
        window=(began, began + found.took),
        throughput=(PhaseThroughput(None, found.count, 0, found.took, found.count / found.took),),
        operations=(operation,),
        intervals=intervals,
        warnings=(*unsteady, *([say_mariadb.sysbench_retried(n=retried)] if retried else [])),
        tool_version=f"sysbench {found.version}",
        properties=(*properties.items(), *more),
        samples=tuple(_samples(found)),
    )


def _histogram(buckets: Counter[int]) -> Histogram:
    def edge(number: float) -> float:
        return _LOWEST_MS * math.exp(number * _WIDTH) / _MS

    return Histogram(tuple(Bucket(edge(at - 0.5), edge(at + 0.5), count) for at, count in sorted(buckets.items())))


def _intervals(found: Summary) -> Iterator[Interval]:
    begin = 0
    for each in found.seconds:
        if begin < each.end <= found.took + 0.5:
            length = each.end - begin
            slow = each.latency_s if each.percent == 99 else None
            yield Interval(float(begin), float(length), round(each.transactions * length), slow)
            begin = each.end


def _samples(found: Summary) -> Iterator[Sample]:
    for each, before in zip(found.seconds, (0, *(second.end for second in found.seconds)), strict=False):
        if each.end <= found.took + 0.5:
            yield Sample("sysbench.queries", "", "", float(each.end), each.queries, "1/s", float(each.end - before))
    for end, length in found.queue:
        if end <= found.took:
            yield Sample("sysbench.queue", "", "", float(end), float(length), "")

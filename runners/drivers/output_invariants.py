"""Rules that a tool's printed numbers always follow, whatever was measured.

An output that breaks a rule is not accepted as evidence.

Each tool has one table of `Invariant`s, such as the table in `ycsb_invariants.py`. The drivers and `bench import` check
the same tables. Tolerances come from the number of printed digits and from the width of the tool's buckets, so that a
good output is never refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Generic, TypeVar

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.measurement import Histogram
from benchbrief.model.precision import share_text

T = TypeVar("T")

_NUMBER = re.compile(r"[+-]?(\d{1,400})(?:\.(\d{1,400}))?(?:[eE]([+-]?\d{1,3}))?")
QUANTISED = 0.002
"""The relative error of values that HdrHistogram prints, since it keeps three digits."""

_SLOWER, _BETWEEN_S = 2.0, 0.02
"""An operation may take this many times as long as its two halves together, plus this many seconds. Between the halves,
its thread may wait for a free processor."""


@dataclass(frozen=True)
class Invariant(Generic[T]):
    """One rule. `says` is the rule's sentence in the documentation. `check` yields a sentence for each violation, which
    names the two values that disagree."""

    says: str
    check: Callable[[T], Iterable[str]]


def find_broken(table: Iterable[Invariant[T]], output: T) -> Iterator[str]:
    """Yield the violations of the rules in a tool's table, in the order of the table."""
    for each in table:
        yield from each.check(output)


@dataclass(frozen=True)
class Printed:
    """A printed number. The true number is within `off` of `value`; `off` is half a unit of the last digit."""

    value: float
    off: float

    def __str__(self) -> str:
        return format_number(self.value)


def parse_printed(text: str) -> Printed | None:
    """Parse a printed number. Returns None if the text is not a finite number, as with NaN, infinity, or a decimal
    comma."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    value = float(text)
    places = int(match[3] or 0) - len(match[2] or "")
    return Printed(value, 0.5 * 10.0**places) if math.isfinite(value) else None


def format_number(value: float) -> str:
    """Format a number for a message, with all digits of a whole number and six digits of any other number."""
    return f"{value:.0f}" if abs(value) < 1e15 and value == int(value) else f"{value:.6g}"


def format_seconds(value: float) -> str:
    """Format a time in seconds as microseconds, with the unit."""
    return f"{format_number(round(value * 1e6, 3))} us"


@dataclass(frozen=True)
class PrintedLatencies:
    """The printed latencies of one operation, in seconds.

    Some tools print the end of a bucket as a percentile. The true percentile may then be up to `below` lower or up to
    `above` higher than the printed one. `unit` is the size of the last digit of the other values.
    """

    name: str
    count: int
    mean: float | None
    low: float | None
    high: float | None
    percentiles: tuple[tuple[float, float], ...]
    unit: float = 1e-6
    below: float = 0.0
    above: float = 0.0


def check_order(of: PrintedLatencies) -> Iterator[str]:
    """Check that minimum, percentiles and maximum are in rising order, and that the mean lies between minimum and
    maximum."""
    if of.count <= 0:
        return
    named = [("minimum", of.low, of.unit, of.unit)]
    named += [(f"p{format_number(percent)}", value, of.below, of.above) for percent, value in sorted(of.percentiles)]
    named.append(("maximum", of.high, of.unit, of.unit))
    known = [(name, value, below, above) for name, value, below, above in named if value is not None]
    for (name, value, below, _), (after, larger, _, above) in pairwise(known):
        # Ends of buckets rise together. Minimum and maximum are no ends of buckets.
        slack = 0.0 if name[0] == after[0] == "p" else below + above
        if value > larger + slack + value * 1e-9:
            yield f"{of.name} has a {name} of {format_seconds(value)} above its {after} of {format_seconds(larger)}"
    if of.mean is not None:
        for end, sign, side in ((of.low, 1, "below its minimum"), (of.high, -1, "above its maximum")):
            if end is not None and sign * (end - of.mean) > of.unit + abs(end) * QUANTISED:
                yield f"{of.name} has a mean of {format_seconds(of.mean)} {side} of {format_seconds(end)}"


def check_mean(of: PrintedLatencies) -> Iterator[str]:
    """Check that latencies with these percentiles can have this mean.

    If p is a percentile of n latencies, p percent of the latencies are at most as high as its value, and the others are
    at least as high. This bounds the sum from both sides. Each rank is known to within one operation.
    """
    if of.count <= 0 or of.mean is None or of.low is None or of.high is None or not of.percentiles:
        return
    n, ranked = of.count, sorted(of.percentiles)
    upper, at = 0.0, 0.0
    for percent, value in ranked:
        rank = max(at, math.floor(percent / 100 * n) - 1)
        upper, at = upper + (rank - at) * (value + of.above), rank
    upper = (upper + (n - at) * (of.high + of.unit)) / n
    lower, at, value_at = 0.0, 0.0, of.low
    for percent, value in ranked:
        rank = min(n, max(at, math.ceil(percent / 100 * n) + 1))
        lower, at, value_at = lower + (rank - at) * value_at, rank, max(0.0, value - of.below)
    lower = (lower + (n - at) * value_at) / n
    names = ", ".join(f"p{format_number(percent)} of {format_seconds(value)}" for percent, value in ranked)
    ends = f"from {format_seconds(of.low)} to {format_seconds(of.high)}, {names}"
    mean = f"{of.name} has a mean of {format_seconds(of.mean)}, and its percentiles allow"
    if of.mean > upper * (1 + QUANTISED) + of.unit:
        yield f"{mean} {format_seconds(upper)} at most: {ends}"
    if of.mean < lower * (1 - QUANTISED) - of.unit:
        yield f"{mean} {format_seconds(lower)} at least: {ends}"


def check_percentile(name: str, histogram: Histogram, percentiles: Iterable[tuple[float, float]]) -> Iterator[str]:
    """Check that each percentile lies in the bucket of its rank. The rank is known to within one operation."""
    n = histogram.count
    for percent, value in percentiles:
        rank = percent / 100 * n
        upto = sum(bucket.count for bucket in histogram.buckets if bucket.lo <= value + 1e-9)
        under = sum(bucket.count for bucket in histogram.buckets if bucket.hi <= value + 1e-9)
        if not under - 1 <= rank <= upto + 1:
            share = share_text((under if rank < under else upto) / n, 3)
            side = "are below it" if rank < under else "reach up to it"
            claim = f"{name} has a p{format_number(percent)} of {format_seconds(value)}"
            yield f"{claim}, and by its buckets {share} {side}"


def check_bucket_mean(name: str, histogram: Histogram, mean: float | None, unit: float = 1e-6) -> Iterator[str]:
    """Check that latencies in the histogram's buckets can have this mean."""
    if mean is None or not histogram.count:
        return
    least = sum(bucket.lo * bucket.count for bucket in histogram.buckets) / histogram.count
    most = sum(bucket.hi * bucket.count for bucket in histogram.buckets) / histogram.count
    if not least * (1 - QUANTISED) - unit <= mean <= most * (1 + QUANTISED) + unit:
        bounds = f"{format_seconds(least)} to {format_seconds(most)}"
        yield f"{name} has a mean of {format_seconds(mean)}, and its buckets allow {bounds}"


def check_bucket_ends(
    name: str, histogram: Histogram, low: float | None, high: float | None, unit: float = 1e-6
) -> Iterator[str]:
    """Check that the minimum lies in the first bucket and the maximum in the last one."""
    if not histogram.buckets:
        return
    for what, value, bucket in (("minimum", low, histogram.buckets[0]), ("maximum", high, histogram.buckets[-1])):
        if value is not None and not bucket.lo - unit <= value <= bucket.hi + unit:
            held = f"{format_seconds(bucket.lo)} to {format_seconds(bucket.hi)}"
            yield f"{name} has a {what} of {format_seconds(value)}, and the bucket at that end is from {held}"


def check_bucket_spread(name: str, histogram: Histogram, mean: float, deviation: float, unit: float) -> Iterator[str]:
    """Check that latencies in the histogram's buckets with this mean can have this standard deviation."""
    if not histogram.count:
        return
    least = most = 0.0
    for bucket in histogram.buckets:
        near = max(bucket.lo - mean, mean - bucket.hi, 0.0)
        far = max(abs(bucket.lo - mean), abs(bucket.hi - mean))
        least, most = least + bucket.count * near**2, most + bucket.count * far**2
    least, most = math.sqrt(least / histogram.count), math.sqrt(most / histogram.count)
    if not least * (1 - QUANTISED) - unit <= deviation <= most * (1 + QUANTISED) + unit:
        bounds = f"{format_seconds(least)} to {format_seconds(most)}"
        yield f"{name} has a standard deviation of {format_seconds(deviation)}, and its buckets allow {bounds}"


def check_halves(whole: PrintedLatencies, first: PrintedLatencies, second: PrintedLatencies) -> Iterator[str]:
    """Check that an operation consisting of two others is never faster than both together, and hardly slower.

    Between the two, the operation makes values and waits for a processor, and the latencies of the two do not include
    that. If `second` has as many operations as `whole`, each whole operation contains exactly one of them.
    """
    low = (first.low or 0.0) + (second.low or 0.0)
    unit = whole.unit + first.unit + second.unit + low * QUANTISED
    if whole.low is not None and whole.low < low - unit:
        halves = f"the minima of {first.name} and {second.name} add up to {format_seconds(low)}"
        yield f"{whole.name} has a minimum of {format_seconds(whole.low)}, and {halves}"
    for what, value, one, two, beside in (
        ("mean", whole.mean, first.mean, second.mean, _BETWEEN_S / 10),
        ("maximum", whole.high, first.high, second.high, _BETWEEN_S),
    ):
        if value is not None and one is not None and two is not None and value > _SLOWER * (one + two) + beside:
            halves = f"those of {first.name} and {second.name} add up to {format_seconds(one + two)}"
            yield f"{whole.name} has a {what} of {format_seconds(value)}, and {halves}"
    if second.count != whole.count:
        return
    at = dict(whole.percentiles)
    for what, value, half in (
        ("mean", whole.mean, second.mean),
        ("maximum", whole.high, second.high),
        *((f"p{format_number(percent)}", at.get(percent), value) for percent, value in second.percentiles),
    ):
        if value is not None and half is not None and value < half * (1 - QUANTISED) - unit - whole.above - whole.below:
            claim = f"{whole.name} has a {what} of {format_seconds(value)}"
            yield f"{claim}, and {second.name} one of {format_seconds(half)}"


def check_run_length(of: PrintedLatencies, run_s: float, off: float) -> Iterator[str]:
    """Check that no operation took longer than the run."""
    if of.high is not None and of.count > 0 and of.high > run_s * (1 + QUANTISED) + off + of.unit:
        yield f"{of.name} has a maximum of {format_seconds(of.high)}, and the run took {format_number(run_s)} s"


def check_threads(each: Iterable[PrintedLatencies], run_s: float, threads: float, off: float) -> Iterator[str]:
    """Check that all latencies together fit into the threads' time. Each thread does one operation at a time."""
    total = sum(of.count * of.mean for of in each if of.mean is not None and of.count > 0)
    if total > (threads * run_s + off) * (1 + QUANTISED):
        have = f"{format_number(threads)} threads have {format_number(round(threads * run_s, 3))} s in the run"
        yield f"its latencies add up to {format_number(round(total, 3))} s, and its {have}"

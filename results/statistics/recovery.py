"""Measures the effect of an event on throughput and latency: the dip, the outage, and the time until each has
recovered.

The throughput comes from the load generators, as samples of about a second, each with its rate. An event has these
results:

- before: the mean rate of the samples before the event: those that begin within its window, or at least the last one.
- recovery: the time from the event to the first sample from which all samples are back for a given number of
  seconds. A sample is back if its rate is below the rate before by no more than a given share, or by no more than
  chance explains, whichever is larger. The recovery is 0 if the throughput never dropped; it has no value if the
  throughput did not come back.
- lowest: the lowest rate of a sample, from the event to the end of the samples that show that the throughput is back.
  The dip is how far the lowest rate is below the rate before, as a share of the latter.
- outage: the time during which the rate is below a given share of the rate before. The samples in which an outage
  begins and ends count in part: by the share of operations that they lack compared with their neighbour outside the
  outage. So the length of the outage is known to within a sample; counting only whole samples would miss up to two of
  them. An outage shorter than two samples may not fill one, and then counts as a dip.
- latency: the recovery of each second's 99th percentile, compared with the geometric mean of the percentiles before.
  It has no value if there are fewer than three percentiles before the event.

A drop may be due to chance if it stays within a prediction limit for all samples that have to be back. Each of them
gets its Bonferroni share of `CHANCE`. The limit uses Student's t and a standard deviation. This is the larger of two:
the deviation of the samples before (of their logarithms, for latencies), which a few samples may underestimate, and the
deviation of counts of independent arrivals (Poisson). A sample whose rate counts as an outage is never back. So for at
most `CHANCE` of the events, an unchanged throughput seems to have dropped.

An event covers the time up to the next event, or to the end of the measurement.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import ceil, exp, inf, log, sqrt
from statistics import NormalDist, fmean, stdev

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.plan import Event
from benchbrief.runners.scheduling.confidence_interval import LARGEST

CHANCE = 0.05
"""The largest share of events for which chance alone may make an unchanged throughput appear to drop."""
_LEAST = 3
"""The fewest samples before an event that allow their spread to be computed."""
_MOST_LOG = 700.0
"""The largest logarithm to use. It is slightly below the largest one whose exponential fits in a float."""
_PARTIAL = 0.5
"""If the last sample is shorter than this share of the previous one, it is dropped, because the tool ended during it.
"""


@dataclass(frozen=True)
class RateSample:
    """The rate (ops/s) from `start` to `end`, in seconds from the start of the measured window.

    `p99_s` is the 99th percentile of the latencies in seconds, if it is known.
    """

    start: float
    end: float
    rate: float
    p99_s: float | None = None

    @property
    def seconds(self) -> float:
        return self.end - self.start


@dataclass(frozen=True)
class Recovery:
    """The effect of an event. Rates are in ops/s, and times in seconds. `recovery_s` is None if the throughput did not
    come back.

    `latency_s` is None if the latency did not come back. Without `has_latency`, it is None because the latency is known
    for too few seconds before the event.
    """

    before: float
    lowest: float
    recovery_s: float | None
    outage_s: float
    latency_s: float | None = None
    has_latency: bool = False

    @property
    def dip(self) -> float:
        """How far the lowest rate is below the rate before the event, as a share of the latter."""
        return 1.0 - self.lowest / self.before


def add_sources(sources: Sequence[Sequence[RateSample]]) -> list[RateSample]:
    """Add up the sources' rates for as long as all sources have one. The sum's percentile is the highest of theirs.

    A sample of the sum ends wherever a sample of any source ends.
    """
    if len(sources) == 1:
        return _whole(sources[0])
    ends = sorted({edge for each in sources for sample in each for edge in (sample.start, sample.end)})
    found = []
    for start, end in pairwise(ends):
        middle = (start + end) / 2
        parts = [next((s for s in each if s.start <= middle < s.end), None) for each in sources]
        known = [part for part in parts if part is not None]
        if len(known) == len(sources) and end - start > 1e-6:
            tails = [part.p99_s for part in known if part.p99_s is not None]
            p99_s = max(tails) if len(tails) == len(known) else None
            found.append(RateSample(start, end, sum(part.rate for part in known), p99_s))
    return found


def _whole(samples: Sequence[RateSample]) -> list[RateSample]:
    kept = list(samples)
    if len(kept) > 1 and kept[-1].seconds < _PARTIAL * kept[-2].seconds:
        kept.pop()
    return kept


def recovery(samples: Sequence[RateSample], event: Event, at: float, until: float) -> Recovery | None:
    """Judge the effect of an event at the time `at` on the time up to `until`, in seconds of the window. Returns None
    if no operation was done before the event."""
    samples = [each for each in samples if each.seconds > 0 and 0 <= each.rate <= LARGEST]
    earlier = [each for each in samples if each.end <= at]
    near = [each for each in earlier if each.start >= at - event.window_s - 1e-6] or earlier[-1:]
    after = [each for each in samples if each.end > at and each.start < until]
    before = _mean(near)
    if not before or not after:
        return None
    enough = max(before - max(event.within * before, _chance_of_rates(near, after, event)), event.outage * before)
    back = _back_after(after, [each.rate >= enough for each in after], event.steady_s, at)
    seen = [each for each in after if back is None or each.start < at + back + event.steady_s - 1e-6]
    return Recovery(
        before,
        min(each.rate for each in seen),
        back,
        _outage(after, event.outage * before, before, at),
        _latency_back_after(near, after, event, at),
        sum(bool(each.p99_s) for each in near) >= _LEAST,
    )


def _chance_of_rates(before: Sequence[RateSample], after: Sequence[RateSample], event: Event) -> float:
    """Return how far chance may lower the rates of samples (ops/s)."""
    each_s = min(sample.seconds for sample in after)
    rates = [sample.rate for sample in before]
    counted = _quantile(inf, event, each_s) * sqrt(fmean(rates) / each_s)
    observed = _quantile(len(rates) - 1, event, each_s) * stdev(rates) if len(rates) >= _LEAST else 0.0
    return max(counted, observed) * sqrt(1 + 1 / len(rates))


def _quantile(freedom: float, event: Event, each_s: float) -> float:
    """Return a quantile of Student's t. With probability 1 - `CHANCE`, no sample that has recovered exceeds it by
    chance.

    If `freedom` is infinite, it is the quantile of the normal distribution.
    """
    from scipy.special import stdtrit

    level = 1 - CHANCE / max(1, ceil(event.steady_s / each_s - 1e-6))
    return NormalDist().inv_cdf(level) if freedom == inf else float(stdtrit(freedom, level))


def _latency_back_after(
    before: Sequence[RateSample], after: Sequence[RateSample], event: Event, at: float
) -> float | None:
    known = [log(each.p99_s) for each in before if each.p99_s and 0 < each.p99_s < inf]
    if len(known) < _LEAST:
        return None
    each_s = min(sample.seconds for sample in after)
    chance = _quantile(len(known) - 1, event, each_s) * stdev(known) * sqrt(1 + 1 / len(known))
    most = exp(fmean(known)) * max(1 + event.within, exp(min(chance, _MOST_LOG)))
    kept = [each.p99_s is not None and each.p99_s <= most for each in after]
    return _back_after(after, kept, event.steady_s, at)


def _mean(samples: Iterable[RateSample]) -> float:
    kept = list(samples)
    seconds = sum(each.seconds for each in kept)
    return sum(each.rate * each.seconds for each in kept) / seconds if seconds else 0.0


def _back_after(samples: Sequence[RateSample], good: Sequence[bool], steady_s: float, at: float) -> float | None:
    """Return how many seconds after an event the recovery is reached: from the sample that begins then, all samples are
    good for `steady_s`. Return None if there is no such sample."""
    since: float | None = None
    for each, is_good in zip(samples, good, strict=True):
        if not is_good:
            since = None
            continue
        since = each.start if since is None else since
        if each.end - max(since, at) >= steady_s - 1e-6:
            return max(0.0, since - at)
    return None


def _outage(samples: Sequence[RateSample], out: float, before: float, at: float) -> float:
    total = 0.0
    for index, each in enumerate(samples):
        if each.rate < out:
            total += each.end - max(each.start, at)
            continue
        begins = index + 1 < len(samples) and samples[index + 1].rate < out
        ends = index > 0 and samples[index - 1].rate < out
        following = next((s.rate for s in samples[index + 1 : index + 2] if s.rate >= out), each.rate)
        lacking = max(_lacking(each, before) if begins else 0.0, _lacking(each, following) if ends else 0.0)
        total += min(lacking, each.end - max(each.start, at))
    return total


def _lacking(sample: RateSample, usual: float) -> float:
    """Return how many operations a sample lacks compared with the `usual` rate, expressed in seconds."""
    return sample.seconds * max(0.0, 1.0 - sample.rate / usual) if usual > 0 else 0.0

"""What an event does to the throughput: the dip, the outage, and the time until it is back.

Throughput is taken as the load generators tell it, in samples of about a second, each with its rate. Of one event:

- before: the mean rate over the samples that end before it, as many as begin within its window; at least the last one.
- lowest: the lowest rate of a sample from the event on. The dip is how much that is below before, as a share of before.
- recovery: from the event to the beginning of the first sample from which on all samples are within a share of before
  for so many seconds. It is 0 when the throughput never left; it has no value when it did not come back.
- outage: the time in which the rate is below a share of before. The samples in which an outage begins and ends count by
  the share of operations that they lack against their neighbour outside. So its length is known to within a sample,
  while whole samples alone would miss up to two of them. One shorter than two samples may fill none, and is a dip.

What comes after belongs to an event up to the next one, or to the end of the measurement.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchbrief.compiler.planning.plan import Event

_PARTIAL = 0.5
"""A last sample shorter than this share of the one before is the tool's end, and left out."""


@dataclass(frozen=True)
class Sample:
    """The rate (ops/s) from `start` to `end`, in seconds from the start of the measured window."""

    start: float
    end: float
    rate: float

    @property
    def seconds(self) -> float:
        return self.end - self.start


@dataclass(frozen=True)
class Recovery:
    """Rates in ops/s, times in seconds. `recovery_s` is None when the throughput did not come back."""

    before: float
    lowest: float
    recovery_s: float | None
    outage_s: float

    @property
    def dip(self) -> float:
        """How much the lowest rate is below that of before, as a share of it."""
        return 1.0 - self.lowest / self.before


def together(sources: Sequence[Sequence[Sample]]) -> list[Sample]:
    """Return the sum of the sources' rates wherever all have one, in samples that end where one of theirs does."""
    if len(sources) == 1:
        return _whole(sources[0])
    ends = sorted({edge for each in sources for sample in each for edge in (sample.start, sample.end)})
    found = []
    for start, end in pairwise(ends):
        middle = (start + end) / 2
        rates = [next((s.rate for s in each if s.start <= middle < s.end), None) for each in sources]
        known = [rate for rate in rates if rate is not None]
        if len(known) == len(sources) and end - start > 1e-6:
            found.append(Sample(start, end, sum(known)))
    return found


def _whole(samples: Sequence[Sample]) -> list[Sample]:
    kept = list(samples)
    if len(kept) > 1 and kept[-1].seconds < _PARTIAL * kept[-2].seconds:
        kept.pop()
    return kept


def recovery(samples: Sequence[Sample], event: Event, at: float, until: float) -> Recovery | None:
    """Judge an event that began `at`, up to `until`, in seconds of the window. None when nothing was done before it."""
    earlier = [each for each in samples if each.end <= at]
    near = [each for each in earlier if each.start >= at - event.window_s - 1e-6] or earlier[-1:]
    after = [each for each in samples if each.end > at and each.start < until]
    before = _mean(near)
    if not before or not after:
        return None
    return Recovery(
        before,
        min(each.rate for each in after),
        _back_after(after, (1 - event.within) * before, event.steady_s, at),
        _outage(after, event.outage * before, before, at),
    )


def _mean(samples: Iterable[Sample]) -> float:
    kept = list(samples)
    seconds = sum(each.seconds for each in kept)
    return sum(each.rate * each.seconds for each in kept) / seconds if seconds else 0.0


def _back_after(samples: Sequence[Sample], enough: float, steady_s: float, at: float) -> float | None:
    since: float | None = None
    for each in samples:
        if each.rate < enough:
            since = None
            continue
        since = each.start if since is None else since
        if each.end - max(since, at) >= steady_s - 1e-6:
            return max(0.0, since - at)
    return None


def _outage(samples: Sequence[Sample], out: float, before: float, at: float) -> float:
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


def _lacking(sample: Sample, usual: float) -> float:
    """Return the seconds of a sample for which operations are missing."""
    return sample.seconds * max(0.0, 1.0 - sample.rate / usual) if usual > 0 else 0.0

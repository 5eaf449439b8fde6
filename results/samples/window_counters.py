"""A server's counters at the two ends of the measured window, from readings beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchbrief.compiler.messages.text import figure
from benchbrief.results.messages.result_messages import say
from benchbrief.runners.journal import events as j

_SAME = 1.1
"""When the whole jobs took at most so many times the measured window, their time stands for it."""
_NEAR = 0.1
"""When no reading is closer to an end of the window than this share of it, the counters there are uncertain."""


@dataclass(frozen=True)
class Span:
    """The counters at the two ends. `reason` says when they do not, or only roughly, match the measured window."""

    before: dict[str, float]
    after: dict[str, float]
    reason: str | None


def around_window(record: j.Counters, jobs: Sequence[j.JobCollected], window: tuple[float, float]) -> Span:
    """Interpolate the counters at both ends of the window between the readings before and after each.

    Without readings on both sides of the window, uses those around the whole measured jobs. `window` and the jobs'
    times are by the controller's clock, as the readings are.
    """
    began, ended = min(job.started_at for job in jobs), max(job.ended_at for job in jobs)
    ahead = _ahead(record, began, ended)
    start, end = window[0] + ahead, window[1] + ahead
    measured, ends = window[1] - window[0], [_around(record.samples, at) for at in (start, end)]
    if any(around is None for around in ends):
        covered = ended - began
        wide = (
            say.counter_wide(seconds=figure(covered, ".1f"), measured=figure(measured, ".1f"))
            if covered > _SAME * measured
            else None
        )
        return Span(record.before, record.after, wide)
    first, last = (around for around in ends if around is not None)
    nearest = max(_nearest(start, first), _nearest(end, last))
    far = say.counter_far(seconds=figure(nearest, ".1f")) if nearest > _NEAR * measured else None
    return Span(_at(start, *first), _at(end, *reversed(last)), far)


_Reading = tuple[float, dict[str, float]]


def _nearest(time: float, around: Sequence[_Reading]) -> float:
    return min(abs(at - time) for at, _ in around)


def _around(samples: Sequence[_Reading], at: float) -> tuple[_Reading, _Reading] | None:
    """Return the last reading at or before a time, and the first at or after it; None when one of them is missing."""
    before = max((sample for sample in samples if sample[0] <= at), key=_time, default=None)
    after = min((sample for sample in samples if sample[0] >= at), key=_time, default=None)
    return (before, after) if before and after else None


def _at(time: float, outer: _Reading, inner: _Reading) -> dict[str, float]:
    """Interpolate the counters at a time between two readings.

    A counter that only the outer one has, or that went back, keeps its outer value, as the change is unknown.
    """
    apart = inner[0] - outer[0]
    share = (time - outer[0]) / apart if apart else 0.0
    found = {}
    for name, value in outer[1].items():
        moved = inner[1].get(name, value) - value
        found[name] = value + moved * share if moved * apart > 0 else value
    return found


def _time(sample: _Reading) -> float:
    return sample[0]


def _ahead(record: j.Counters, began: float, ended: float) -> float:
    """Return how far the controller's clock is ahead of the load generators'.

    The first reading was before the jobs began, and the last after they had ended. Clocks that fit this count as
    equal. Otherwise it is the middle of the possible range.
    """
    if not record.samples or not record.before or not record.after:
        return 0.0
    least, most = record.samples[0][0] - began, record.samples[-1][0] - ended
    return 0.0 if least <= 0 <= most else (least + most) / 2

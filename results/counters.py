"""Which readings of a server's counters belong to the measured window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchbrief.runners import journal as j

_SAME = 1.1
"""Up to this many times the measured window, what the readings cover is taken for the window."""


@dataclass(frozen=True)
class Span:
    """Two readings; `reason` says when there is much more between them than the measured window."""

    before: dict[str, float]
    after: dict[str, float]
    reason: str | None


def around_window(record: j.Counters, jobs: Sequence[j.JobCollected], window: tuple[float, float]) -> Span:
    """The last reading at or before the window's start, and the first at or after its end.

    Without both, those around the whole measured jobs. `window` and the jobs' times were brought to the
    controller's clock, by which the readings are.
    """
    began, ended = min(job.started_at for job in jobs), max(job.ended_at for job in jobs)
    least, most = _ahead(record, began, ended)
    start, end = window[0] + least, window[1] + most
    first = max((sample for sample in record.samples if sample[0] <= start), key=_time, default=None)
    last = min((sample for sample in record.samples if sample[0] >= end), key=_time, default=None)
    if first and last:
        before, after, covered = first[1], last[1], last[0] - first[0]
    else:
        before, after, covered = record.before, record.after, ended - began
    measured = window[1] - window[0]
    wide = covered > _SAME * measured
    return Span(before, after, f"over {covered:.1f} s, of which {measured:.1f} s were measured" if wide else None)


def _time(sample: tuple[float, dict[str, float]]) -> float:
    return sample[0]


def _ahead(record: j.Counters, began: float, ended: float) -> tuple[float, float]:
    """How far the controller's clock is ahead of the load generators', at the least and at the most.

    The first reading was before the jobs began, and the last after they had ended. Clocks that do not contradict that
    are taken for the same.
    """
    if not record.samples or not record.before or not record.after:
        return 0.0, 0.0
    least, most = record.samples[0][0] - began, record.samples[-1][0] - ended
    return (0.0, 0.0) if least <= 0 <= most else (least, most)

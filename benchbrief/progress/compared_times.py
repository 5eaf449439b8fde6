"""A run's estimate against what it took, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchbrief.cli.readable_quantities import duration
from benchbrief.compiler.estimates.time_spent import ACTIVITY_WORDS

if TYPE_CHECKING:
    from benchbrief.results.runs.estimate_and_actual import TimeCompared

_MUCH = 0.1
"""The share of the time that an activity has to be off by, to be named."""


def short_text(times: TimeCompared) -> str:
    """Return what the run took and was estimated to take, with the activity that was furthest from its estimate."""
    text = _of_all(times)
    most = max(times.in_all, key=lambda each: abs(each.taken_s - each.estimated_s))
    if abs(most.taken_s - most.estimated_s) > _MUCH * times.wall_estimated_s:
        took, estimated = duration(most.taken_s), duration(most.estimated_s)
        text += f": {ACTIVITY_WORDS[most.activity]} took {took}, estimated {estimated}"
    return text


def _of_all(times: TimeCompared) -> str:
    made = " for the cells that were run" if times.of_those_made else ""
    return f"{duration(times.wall_taken_s)}, estimated {duration(times.wall_estimated_s)}{made}"


def full_lines(times: TimeCompared) -> list[str]:
    """Return a line for the whole and one for each activity that takes time, by what it was estimated and took."""
    rows = [(ACTIVITY_WORDS[each.activity], each.estimated_s, each.taken_s) for each in times.in_all]
    shown = [row for row in rows if max(row[1:]) >= 0.5]
    learned = f" (learned from {', '.join(times.runs)})" if times.runs else ""
    return [
        f"time: {_of_all(times)}{learned}",
        *(
            f"  {name:<12} {duration(taken):>12}, estimated {duration(estimated):>12}"
            for name, estimated, taken in shown
        ),
    ]

"""The stretch of the measured window that each reading stands for, and from it means, coverage and energy.

A rate stands for its interval. A gauge stands for the time from halfway to the previous reading to halfway to the
next one, and the first and the last up to the ends of the window. The mean over these stretches is the trapezoid
rule with constant ends, since the load outside the window may differ. No reading stands for a gap.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from benchbrief.results.samples.sample_coverage import COMPLETE
from benchbrief.runners.measurement.measurement import Sample
from benchbrief.runners.sampling import longest_step

FEWEST = 3
"""The least readings of power for an energy. With fewer, it would extend a moment's value to the whole window."""


class Stretch(NamedTuple):
    """A part of the window, in seconds from its start."""

    start: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.start


_UNSET = Stretch(0.0, 0.0)


@dataclass(frozen=True)
class Coverage:
    """`share` of the window was sampled. `longest_s` is its longest stretch without a reading, 0 without gaps."""

    share: float
    longest_s: float


def stretches(samples: Sequence[Sample], every_s: float, seconds: float) -> list[Stretch]:
    """Return what each sample of a window of `seconds` stands for, in the same order."""
    found = [_UNSET] * len(samples)
    gauges: dict[tuple[str, str, str], list[int]] = {}
    for place, (measure, node, device, time, _, _, over) in enumerate(samples):
        if over:
            found[place] = Stretch(time - over, time)
        else:
            gauges.setdefault((measure, node, device), []).append(place)
    read: dict[tuple[float, ...], list[Stretch]] = {}
    """A probe reads all its measures at the same times."""
    at = [sample.time for sample in samples]
    for places in gauges.values():
        places.sort(key=at.__getitem__)
        times = tuple(at[place] for place in places)
        if times not in read:
            read[times] = gauge_stretches(times, every_s, seconds)
        for place, part in zip(places, read[times], strict=True):
            found[place] = part
    return found


def gauge_stretches(times: Sequence[float], every_s: float, seconds: float) -> list[Stretch]:
    """Return the stretches of gauges read at these times, in rising order."""
    longest = longest_step(every_s)
    ends = [0.0, *times, seconds]
    # A reading stands for half the time to its neighbours, and for all of it at the ends of the window.
    halves = [gap / 2 if gap <= longest else 0.0 for gap in (b - a for a, b in pairwise(ends))]
    halves[0], halves[-1] = 2 * halves[0], 2 * halves[-1]
    return [Stretch(time - halves[i], time + halves[i + 1]) for i, time in enumerate(times)]


def coverage(times: Sequence[float], every_s: float, seconds: float) -> Coverage:
    """Return the coverage of a window of `seconds`, by gauges read at these times from its start.

    The smaller of two: the readings over those due between the first and the last, and the window without gaps. A
    single reading stands for one interval. A meter's burst of readings does not make up for gaps elsewhere.
    """
    found = sorted(set(times))
    if not found or seconds <= 0:
        return Coverage(0.0, max(seconds, 0.0))
    due = 1 + round((found[-1] - found[0]) / every_s) if len(found) > 1 else seconds / every_s
    share = min(share_spanned(gauge_stretches(found, every_s, seconds), seconds), _taken(found, every_s) / due)
    longest = max(b - a for a, b in pairwise([0.0, *found, seconds]))
    return Coverage(min(share, 1.0), longest if share < 1 else 0.0)


def _taken(times: Sequence[float], every_s: float) -> int:
    """Return how many of the readings due at each interval from the first one were taken.

    A reading may be up to half an interval early, or less than one late, and counts at most once.
    """
    taken = place = 0
    for number in range(1 + round((times[-1] - times[0]) / every_s)):
        due = times[0] + number * every_s
        while place < len(times) and times[place] <= due - every_s / 2:
            place += 1
        if place < len(times) and times[place] < due + every_s:
            taken, place = taken + 1, place + 1
    return taken


def covered_by(parts: Iterable[Stretch], seconds: float) -> Coverage:
    """Return the coverage of a window of `seconds`, by rates over these stretches of it."""
    gaps, reached = [], 0.0
    for part in sorted(parts):
        gaps.append(max(0.0, part.start - reached))
        reached = max(reached, part.end)
    gaps.append(max(0.0, seconds - reached))
    missed = sum(gap for gap in gaps if gap > _ROUNDING_S)
    if not missed or seconds <= 0:
        return Coverage(1.0, 0.0)
    return Coverage(max(0.0, 1 - missed / seconds), max(gaps))


_ROUNDING_S = 1e-6


def both(first: Coverage, second: Coverage) -> Coverage:
    return Coverage(min(first.share, second.share), max(first.longest_s, second.longest_s))


def share_spanned(parts: Sequence[Stretch], seconds: float) -> float:
    """Return the share of the window that readings, which do not overlap, stand for."""
    return sum(part.seconds for part in parts) / seconds if seconds > 0 else 0.0


def energy(watts: Sequence[tuple[Stretch, float]], seconds: float) -> float | None:
    """Return the joules over a window of `seconds`, from readings of power and what they stand for.

    A small gap gets the mean of the rest. None when more than 5 % is missing, or with fewer than three readings.
    """
    covered = sum(part.seconds for part, _ in watts)
    if len(watts) < FEWEST or covered < COMPLETE * seconds or covered <= 0:
        return None
    return sum(part.seconds * each for part, each in watts) * (seconds / covered)

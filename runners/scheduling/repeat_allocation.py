"""Which group of points gets the next repeat: the rule itself, a function of what was measured.

A group is what is repeated together: a point, or a point on each hardware that takes turns. The rule, in this order:

1. A turn that has begun is finished, so that each hardware of a group has equally many repeats.
2. A group with a point that has too few repeats for its interval to count is the first. Of several, one that an
   expectation reads goes first, then the one with fewer repeats.
3. Then the group whose open expectation is nearest to its decision: half the width of the interval of the mean
   difference, as a share of that difference, is smallest. The widest interval first would decide fewer in
   the same time.
4. Then the group with the widest interval: half its width as a share of the mean, or of the target where there is
   one. Of equally wide ones, the one with fewer repeats, then the first in the plan.
5. Where an open expectation compares that group with others that have fewer repeats, the one with the fewest goes in
   its place: the repeats of two sides count in pairs.

A group whose points all have their intervals within the target is decided, unless an expectation that depends on it is
open. Without a target, it is decided where expectations judge all its points, and the repeats decide each of them. The
intervals have the level of `compiler/planning/budgets.py`, so that looking at them after each repeat does not make them
miss more often.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from benchbrief.runners.measurement.confidence_interval import half_width, t_interval
from benchbrief.runners.scheduling.table_readings import Sampled

_LEAST = 1e-9
"""The need of a group whose repeats are all alike, and still wanted."""


@dataclass
class PointSoFar:
    """What is known of a point: the values of each asked statistic over its good repeats, and how many have ended."""

    values: Mapping[str, Sequence[float]] = field(default_factory=dict)
    ended: int = 0
    sampled: Sequence[Sampled] = ()


@dataclass
class Group:
    """What is repeated together. `left` says whether a repeat is left; `open` how far an open expectation is from its
    decision, None without one; `decided`, whether expectations judge all its points, and none is open.

    `within` is the target as a share of the mean, None where all repeats are wanted. `at_least` repeats make an
    interval count, and `level` is the level of each. `asked`: whether anything is asked for here at all; `expected`:
    whether an expectation reads a point. `compared` are the places of the groups that open expectations compare with
    this one.
    """

    points: Sequence[PointSoFar]
    at_least: int
    level: float
    within: float | None = None
    left: bool = True
    open: float | None = None
    decided: bool = False
    asked: bool = True
    expected: bool = False
    compared: Collection[int] = ()

    @property
    def begun(self) -> bool:
        """Return whether a turn has begun and is not over."""
        return len({point.ended for point in self.points}) > 1

    @property
    def repeats(self) -> int:
        return min(point.ended for point in self.points)

    @property
    def nearness(self) -> float:
        """Return how near an open expectation is to its decision: a higher number is nearer."""
        return -math.inf if self.open is None else -self.open

    def need(self) -> float:
        """Return how much the group needs another repeat: infinite without a whole interval, 0 when it is decided."""
        if not self.asked:
            return 0.0
        widest = max((self._width(point) for point in self.points), default=0.0)
        if self.within is None:
            return 0.0 if self.decided and not math.isinf(widest) else max(widest, _LEAST)
        return max(widest / self.within, _LEAST) if widest > self.within or self.open is not None else 0.0

    def _width(self, point: PointSoFar) -> float:
        """Return the widest interval of a point; of one without good repeats, it is infinite while any is left."""
        widths = [width_so_far(values, self.at_least, self.level) for values in point.values.values()]
        # A sample may be missing: that of a probe is no reason to go on.
        widths += [
            width_so_far(each.values, self.at_least, self.level, each.least)
            for each in point.sampled
            if len(each.values) >= self.at_least
        ]
        return max(widths, default=math.inf)


def width_so_far(values: Sequence[float], at_least: int, level: float, least: float | None = None) -> float:
    """Return half the width of a mean's interval as a share of the mean; infinite with fewer than `at_least` values.

    With `least`, the share is that of the mean without its sign, or of `least` where that is more."""
    if len(values) < at_least:
        return math.inf
    if least is None:
        width = half_width(values, level)
        return math.inf if width is None else width
    mean = statistics.fmean(values)
    low, high = t_interval(len(values), mean, statistics.stdev(values) if len(values) > 1 else None, level)
    if low is None or high is None:
        return math.inf
    return (high - low) / 2 / max(abs(mean), least) if high > low else 0.0


def next_group(groups: Sequence[Group]) -> int | None:
    """Return the place of the group to repeat next; None when none needs it."""
    found = [
        (group.begun, lacks := math.isinf(need), lacks and group.expected, group.nearness, need, -group.repeats, -place)
        for place, group in enumerate(groups)
        if group.left and ((need := group.need()) > 0 or group.begun)
    ]
    if not found:
        return None
    first = -max(found)[-1]
    sides = [first, *sorted(place for place in groups[first].compared if groups[place].left)]
    return first if groups[first].begun else min(sides, key=lambda place: groups[place].repeats)

"""What the tables of a run say while it goes on, for the choice of the next repeat: they are read in `results/`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from benchbrief.compiler.planning.budgets import Point
from benchbrief.runners.journal.run_record import RunRecord


@dataclass(frozen=True)
class Sampled:
    """What a probe has at a point, or a metric over that: one value for each repeat, in any unit.

    The width of its interval is a share of the mean, or of `least` where the mean is smaller: a share near 0 %, or a
    disk that rests, is no reason to repeat."""

    of: str
    values: Sequence[float]
    least: float


@dataclass(frozen=True)
class Readings:
    """`open` has the points that expectations read which the repeats can't decide yet, with how far from it they are:
    half the width of the interval of the mean difference, as a share of that difference. `decided` are the points
    at which the repeats decide each expectation that reads them. `compared` has the points that open expectations
    read together with a point. `sampled` is what is asked for of probes."""

    open: Mapping[Point, float] = field(default_factory=dict)
    decided: Collection[Point] = frozenset()
    sampled: Mapping[Point, Sequence[Sampled]] = field(default_factory=dict)
    compared: Mapping[Point, Collection[Point]] = field(default_factory=dict)


ReadTables = Callable[[RunRecord], Readings]


def nothing_read(_record: RunRecord) -> Readings:
    """Return the readings of a spec without expectations and probes."""
    return Readings()

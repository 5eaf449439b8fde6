"""The limits within which an offered load counts as achieved, both for curves and for single cells."""

from __future__ import annotations

from bisect import bisect_left

from benchbrief.dsl.lazy_dataclass import cached_property, dataclass
from benchbrief.model.plan import Arrivals, Experiment, Promise

KEEPS_UP = 0.95
"""The share of an offered load at which a system keeps up. The margin allows for the load generator's pace, which is
never exact."""

CATCHES_UP = 1.05
"""A load generator that does more than this share of its offered load must be working off a backlog. The backlog comes
from the warm-up, where the schedule began, or from a stall."""


@dataclass(frozen=True)
class OfferedLoad:
    """The operations per second that were due, and those that were done."""

    offered: float
    achieved: float

    @property
    def share(self) -> float:
        return self.achieved / self.offered

    @property
    def is_short(self) -> bool:
        return self.share < KEEPS_UP

    @property
    def is_ahead(self) -> bool:
        return self.share > CATCHES_UP


def load_of(  # the numbers of one measurement
    ops_per_s: float,
    done: int | None,
    due: int | None,
    seconds: float | None,
    target: float,
    experiment: Experiment | None,
) -> OfferedLoad:
    """Return the load of a measured cell with a target.

    Random arrivals seldom match their rate exactly. Therefore, if the load generator reports how many operations were
    actually `due` in these seconds, the operations `done`, including failed ones, are compared with that number.
    """
    if due and seconds and done is not None:
        return OfferedLoad(due / seconds, done / seconds)
    return OfferedLoad(offered(target, experiment), ops_per_s)


def to_serve(promise: Promise) -> float:
    """Return the share of its offered load that a run must serve to keep a promise. If it serves less, the promise
    counts as broken, because the run can't be distinguished from a run at a neighbouring rate."""
    return max(KEEPS_UP, 1 - promise.within)


def offered(target: float, experiment: Experiment | None) -> float:
    """Return the mean rate that is due in a cell's measured time: its `target`, unless it has bursts."""
    arrivals = experiment.arrivals if experiment else None
    if experiment is None or arrivals is None or arrivals.kind != "burst":
        return target
    due = Schedule(arrivals, experiment.warm_up_s).due(target, 0.0, experiment.measure_s)
    return due / experiment.measure_s


@dataclass(frozen=True)
class Schedule:
    """When a run's operations are due: in a warm-up, and in the measured time after it."""

    arrivals: Arrivals | None
    warm_up_s: float

    @property
    def is_even(self) -> bool:
        return self.arrivals is None or self.arrivals.kind not in ("burst", "steps", "trace")

    def due(self, target: float, begin: float, end: float) -> float:
        """Return how many operations are due on average between two times of the measurement, at a `target` rate."""
        arrivals = self.arrivals
        since, until = self.warm_up_s + begin, self.warm_up_s + end
        if arrivals is None or self.is_even:
            return target * (end - begin)
        if arrivals.kind == "burst":
            bursts = _in_bursts(arrivals, until) - _in_bursts(arrivals, since)
            return target * (end - begin) + (arrivals.burst_rate - target) * bursts
        if arrivals.kind == "trace":
            return bisect_left(self._traced, until) - bisect_left(self._traced, since)
        starts = [step * arrivals.each_s for step in range(len(arrivals.rates))]
        lasting = (max(0.0, min(end, start + arrivals.each_s) - max(begin, start)) for start in starts)
        return sum(rate * seconds for rate, seconds in zip(arrivals.rates, lasting, strict=True))

    @cached_property
    def _traced(self) -> list[float]:
        lines = self.arrivals.trace.splitlines() if self.arrivals else []
        return [float(line) for line in lines if line.strip() and not line.startswith("#")]


def _in_bursts(arrivals: Arrivals, until: float) -> float:
    """Return how many of the seconds before a time belong to bursts. A run begins with a burst."""
    whole, rest = divmod(until, arrivals.every_s)
    return whole * arrivals.lasting_s + min(rest, arrivals.lasting_s)

"""The limits within which an offered load counts as achieved, for curves and for single cells."""

from __future__ import annotations

from dataclasses import dataclass

from benchbrief.compiler.planning.plan import Arrivals, Experiment, Promise

KEEPS_UP = 0.95
"""A system keeps up with an offered load when it achieves this share of it. The rest is for the pace of the load
generator, which is never exact."""

CATCHES_UP = 1.05
"""A load generator above this share of its offered load worked off a backlog: its schedule began in the warm-up, or
a stall stopped it."""


@dataclass(frozen=True)
class Load:
    """What was due and what was done, in operations per second."""

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
) -> Load:
    """Return the load of a measured cell with a target.

    Random arrivals are seldom as many as their rate says, so what was `done`, failed operations too, is held against
    what the schedule had `due` in these seconds, where the load generator tells it.
    """
    if due and seconds and done is not None:
        return Load(due / seconds, done / seconds)
    return Load(offered(target, experiment), ops_per_s)


def to_serve(promise: Promise) -> float:
    """Return the share of its offered load that a run has to serve for a promise: a rate that was served to less can't
    be told from the next candidates."""
    return max(KEEPS_UP, 1 - promise.within)


def offered(target: float, experiment: Experiment | None) -> float:
    """Return the mean rate that is due in the measured time of a cell: its `target`, unless it has bursts."""
    arrivals = experiment.arrivals if experiment else None
    if experiment is None or arrivals is None or arrivals.kind != "burst":
        return target
    until = experiment.warm_up_s + experiment.measure_s
    bursts = _in_bursts(arrivals, until) - _in_bursts(arrivals, experiment.warm_up_s)
    return target + (arrivals.burst_rate - target) * bursts / experiment.measure_s


def _in_bursts(arrivals: Arrivals, until: float) -> float:
    """Return the seconds of bursts up to a time. A run begins with one."""
    whole, rest = divmod(until, arrivals.every_s)
    return whole * arrivals.lasting_s + min(rest, arrivals.lasting_s)

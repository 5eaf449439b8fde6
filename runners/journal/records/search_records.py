"""Records of what a run chooses and finds while it goes on: ramps, searches and budgets."""

from __future__ import annotations

from typing import Literal

from benchbrief.compiler.messages.text import Said
from benchbrief.runners.journal.records.record_base import Frozen, Record


class PointChosen(Record):
    """The next point of an adaptive ramp, which its curves share: the `number`th of those that were tried.

    It follows from the verdicts of the cells before, and is kept as it was decided.
    """

    type: Literal["point_chosen"] = "point_chosen"
    experiment: str
    hardware: tuple[str, ...]
    workload: str
    axis: Literal["threads", "target"]
    point: float
    number: int
    why: Said

    @property
    def ramp(self) -> tuple[str, tuple[str, ...], str]:
        return self.experiment, self.hardware, self.workload


class RateJudged(Frozen):
    """How many runs at a rate kept a promise, broke it, were beyond the load generator, and failed; and how many of its
    good `held_out` runs, which do not count there, kept it, or were beyond the generator."""

    rate: float
    met: int
    broken: int
    beyond: int = 0
    failed: int = 0
    held_met: int = 0
    held_out: int = 0
    held_beyond: int = 0

    @property
    def all_met(self) -> int:
        return self.met + self.held_met

    @property
    def all_broken(self) -> int:
        """How many runs broke the promise, without those that were beyond the generator."""
        return self.broken + self.held_out - self.held_met - self.held_beyond


class PromiseEnded(Record):
    """What a search for a promise found on one hardware with one workload: see `compiler/searches/rate_search.py`.

    `above` is the next candidate, which breaks the promise, or with `by_generator` can't be offered. `sure`: both sides
    of the edge were decided with confidence, and not by the majority of all repeats or by held-out runs. `lowered`:
    held-out runs at higher rates broke the promise, or were beyond the generator. Of the `held_out` runs at `rate`
    that have not failed, `held_met` kept the promise. It follows from the verdicts of the cells, and is kept as it
    was decided.
    """

    type: Literal["promise_ended"] = "promise_ended"
    experiment: str
    hardware: str
    workload: str
    kind: Literal["found", "at_least", "none", "undecided"]
    rate: float | None
    above: float | None = None
    by_generator: bool = False
    sure: bool
    lowered: bool = False
    held_met: int = 0
    held_out: int = 0
    rates: tuple[RateJudged, ...]

    @property
    def confirmed(self) -> bool:
        """Whether all of the held-out runs kept the promise, and there are some."""
        return 0 < self.held_met == self.held_out

    @property
    def sustained(self) -> float | None:
        """The rate that keeps the promise, as far as the search shows; None where held-out runs contradict it."""
        return self.rate if self.kind in ("found", "at_least") and self.confirmed else None

    @property
    def kept_above(self) -> float | None:
        """The highest rate above that which most of its runs kept, though a run at a lower rate broke the promise."""
        above = (each for each in self.rates if self.rate is not None and each.rate > self.rate)
        kept = (each.rate for each in above if each.met > each.broken + each.beyond and each.held_met == each.held_out)
        return max(kept, default=None)


class SearchPoint(Frozen):
    """What a search saw at a point: the mean throughput of its repeats, and their highest latency."""

    point: float
    ops_per_s: float
    latency_s: float


class SearchEnded(Record):
    """What a search found on one hardware with one workload: the knee, or None when no point up to the last is one.

    It follows from the verdicts of the cells in `points`, and is kept as it was decided.
    """

    type: Literal["search_ended"] = "search_ended"
    experiment: str
    hardware: str
    workload: str
    axis: Literal["threads", "target"]
    knee: float | None
    points: tuple[SearchPoint, ...]


class ExpectationsRead(Record):
    """With a budget, the expectations were read to choose a repeat, which took `seconds` of the budget of `cell`."""

    type: Literal["expectations_read"] = "expectations_read"
    cell: str
    seconds: float

"""Gives reports the results of searches for a promise, with the runs at each rate."""

from __future__ import annotations

from typing import Literal, NamedTuple

from benchbrief.model.points import Curve
from benchbrief.model.rate_search import is_lower_bound
from benchbrief.results.store.searched_doubts import Doubt, of_search


class RateRuns(NamedTuple):
    """How many runs at a rate kept a promise, broke it, or were beyond the load generator. Held-out runs are counted
    separately."""

    rate: float
    met: int
    broken: int
    beyond: int
    held_met: int
    held_out: int
    held_beyond: int = 0

    @property
    def judged(self) -> int:
        return self.met + self.broken + self.beyond

    @property
    def all_met(self) -> int:
        """How many runs kept the promise, including held-out runs."""
        return self.met + self.held_met

    @property
    def all_runs(self) -> int:
        return self.judged + self.held_out

    @property
    def late(self) -> int:
        """How many runs are inconclusive because their load generator was late."""
        return self.beyond + self.held_beyond

    @property
    def all_broken(self) -> int:
        """How many runs broke the promise, including held-out runs."""
        return self.all_runs - self.all_met - self.late

    @property
    def refuted(self) -> bool:
        """True if held-out runs did not confirm the rate."""
        return self.held_met < self.held_out

    @property
    def verdict(self) -> Literal["kept", "broken", "beyond"] | None:
        """The verdict of the runs at the rate, or None if all of them failed."""
        if self.refuted:
            return "beyond" if 2 * self.held_beyond > self.held_out - self.held_met else "broken"
        if not self.judged:
            return "kept" if self.held_out else None
        if 2 * self.met > self.judged:
            return "kept"
        return "beyond" if self.beyond > self.broken else "broken"


class Promised(NamedTuple):
    """The result of a search for a promise, with the runs at each rate. `PromiseRow` of the store explains
    the fields."""

    experiment: str
    hardware: str
    workload: str
    levels: str
    sustained: float | None
    kind: str | None
    by_generator: bool
    sure: bool
    held_met: int
    held_out: int
    reason: str
    kept_to: float | None
    broken_from: float | None
    rates: tuple[RateRuns, ...]

    @property
    def curve(self) -> Curve:
        return Curve.of(self)

    def as_dict(self) -> dict[str, object]:
        """Return the result for `--json`. `bound` and `decided` mean the same as in `measure.sustained`."""
        more = {"bound": self.doubt.bound or None, "decided": self.sure, "reason": self.reason or None}
        return {**self._asdict(), **more, "rates": [each._asdict() for each in self.rates]}

    @property
    def is_lower_bound(self) -> bool:
        """True if the sustained rate may be higher than the found one."""
        return self.sustained is not None and is_lower_bound(self.kind, by_generator=self.by_generator)

    @property
    def doubt(self) -> Doubt:
        return of_search(self.kind, by_generator=self.by_generator, sure=self.sure)

    @property
    def lowered_late(self) -> tuple[RateRuns, ...]:
        """The rates above the sustained rate at which held-out runs were late. Late runs lower the sustained rate,
        although they say nothing about the system."""
        return tuple(r for r in self.rates if self.sustained is not None and r.rate > self.sustained and r.held_beyond)

    @property
    def kept_above(self) -> float | None:
        """The highest rate above the sustained rate at which most runs kept the promise, or None if there is none."""
        above = (each for each in self.rates if self.sustained is not None and each.rate > self.sustained)
        return max((each.rate for each in above if each.verdict == "kept"), default=None)

    @property
    def is_undecided(self) -> bool:
        """True if the search found a rate, but without the required confidence."""
        return self.sustained is not None and not self.sure

"""The search for the highest rate that keeps a promise. This is only the rule, as a function of the results.

The candidates are rates. Each is `1 + within` times the candidate two places below it. Near the true rate, chance
decides how a run ends, so the search may miss the candidate just below the true rate. The next lower candidate is still
near enough. The search assumes that if a promise is broken at one rate, it is broken at each higher rate.

1. **Doubling.** The lowest rate is the first. As long as each rate keeps the promise, the next is the highest
   candidate up to twice the last one.
2. **Halving.** Next comes the candidate in the middle between the highest rate that keeps the promise and the lowest
   that breaks it, until there is none between them.
3. **Again at the edge.** At the edge, one run is not enough evidence. Both neighbours are measured again, until the
   runs that keep the promise lead those that break it by `LEAD`, or the reverse, or the repeats are used up. This is
   the sequential probability ratio test of A. Wald, "Sequential Tests of Statistical Hypotheses", Annals of
   Mathematical Statistics 16 (1945). At a rate at which a share `KEPT` of all runs keep the promise, or break it, its
   decision is right with the probability `CONFIDENCE`. If a neighbour turns out to be on the other side, the edge
   moves, and halving continues from there.
4. **Not above a broken run.** No rate counts if a run at a lower rate broke the promise, even if most runs there kept
   it. The answer is then at most the lowest such rate.
5. **Held out.** The rate that was found is measured again, by repeats that took no part in finding it. All of them
   must keep the promise. As soon as one breaks it, the next lower candidate gets held-out repeats of its own, at most
   `LOWER` times.

A run whose generator was late keeps the promise if the limits hold with its lateness included, since lateness can only
make the values worse. Otherwise, the run shows nothing about the system. It counts against the rate, and is also
counted separately. A failed run does not count, and is followed by the next repeat. The search is undecided if no
held-out run breaks the promise, but so many of them failed that at most half of them keep it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import floor, inf, sqrt
from typing import Literal

from benchbrief.dsl.lazy_dataclass import dataclass

KEPT = 0.8
"""The search must distinguish two rates: one at which this share of the runs keeps the promise, and one at which this
share breaks it."""
LEAD = 3
"""The lead, in runs, that decides on a rate. It is the smallest lead that gives 95 % confidence in both directions."""
CONFIDENCE = 1 - 1 / (1 + (KEPT / (1 - KEPT)) ** LEAD)
"""The probability of a correct decision on a rate at which a share `KEPT` of the runs keeps (or breaks) the promise. It
equals the chance that a gambler with these odds gets `LEAD` ahead before getting `LEAD` behind."""
FAILURES = 2
"""The search ends after this many failed runs at a rate if no run there was good, because nothing is then known about
the rate."""

LOWER = 6
"""The most candidates below the found rate that are tried if held-out repeats break the promise."""

Kind = Literal["found", "at_least", "none", "undecided"]
Why = Literal["first", "double", "halve", "again", "held_out"]


@dataclass(frozen=True)
class Tally:
    """How many runs at a rate kept the promise, broke it, were `beyond` the generator, or failed. A run is beyond the
    generator if the generator could not offer the rate."""

    met: int = 0
    broken: int = 0
    beyond: int = 0
    failed: int = 0

    @property
    def confirms(self) -> bool:
        """Whether some runs count, and all of them kept the promise."""
        return 0 < self.met == self.votes

    @property
    def refutes(self) -> bool:
        """Whether at least one of the runs that count did not keep the promise."""
        return self.met < self.votes

    def is_open(self, held_out: int) -> bool:
        """Whether no held-out run refutes the rate, but so many of the `held_out` runs failed that the others can't
        confirm it."""
        to_come = held_out - self.runs
        return self.failed > 0 and not self.refutes and 2 * (self.met + to_come) <= held_out

    @property
    def votes(self) -> int:
        return self.met + self.broken + self.beyond

    @property
    def runs(self) -> int:
        return self.votes + self.failed

    @property
    def lead(self) -> int:
        """How many more runs kept the promise than broke it."""
        return self.met - self.broken - self.beyond

    @property
    def by_generator(self) -> bool:
        """Whether most of the runs that count against the rate were beyond the generator."""
        return self.lead <= 0 and self.beyond > self.broken

    def is_decided(self, judged: int) -> bool:
        return self.is_sure or self.runs >= judged

    @property
    def is_sure(self) -> bool:
        return abs(self.lead) >= LEAD

    def and_one(self, vote: Vote) -> Tally:
        return replace(self, **{vote: getattr(self, vote) + 1})


Vote = Literal["met", "broken", "beyond", "failed"]
NONE = Tally()


@dataclass(frozen=True)
class SearchRule:
    """The limits of a search: at most `judged` repeats decide on a rate, `held_out` repeats confirm the rate that was
    found, and no search has more than `most` runs."""

    judged: int
    held_out: int
    most: int

    @property
    def most_judged(self) -> int:
        return self.most - self.held_out * (1 + LOWER)


@dataclass(frozen=True)
class SearchStep:
    """The rate of the next run, and the reason for it.

    When halving, `low` and `high` are the rates between which it lies. When doubling, `low` is the previous rate. For a
    held-out run, `high` is the next higher rate if held-out runs have failed to confirm that rate.
    """

    rate: float
    why: Why
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class SearchAnswer:
    """The result of a rate search. `rate` keeps the promise, and `above` is the next candidate, which does not.

    - found: both are known. `above` may be a rate whose held-out runs broke the promise, or just the next candidate if
      a run at `rate` broke it.
    - at_least: the highest candidate keeps the promise.
    - none: the lowest candidate breaks the promise.
    - undecided: too many runs at `rate` failed, or the search used up its cells (`rate` is then None).
    """

    kind: Kind
    rate: float | None = None
    above: float | None = None


def next_step(
    rates: Sequence[float], tallies: Mapping[float, Tally], held: Mapping[float, Tally], rule: SearchRule
) -> SearchStep | SearchAnswer:
    """Return the next run, or the answer. `rates` are in rising order, and `held` are the held-out runs at each
    rate."""
    tried = {rate: tallies[rate] for rate in sorted(tallies) if tallies[rate].runs}
    step = _next(rates, tried, rule)
    if isinstance(step, SearchStep):
        spent = sum(tally.runs for tally in tried.values())
        return SearchAnswer("undecided") if spent >= rule.most_judged else step
    if step.kind not in ("found", "at_least") or step.rate is None:
        return step
    found = step.rate
    broke = next((rate for rate, tally in tried.items() if tally.broken), None)
    if broke is not None and broke < found:
        step = SearchAnswer("found", broke, rates[bisect_left(rates, broke) + 1])
        found = broke
    place = bisect_left(rates, found)
    for below in range(min(LOWER, place) + 1):
        rate = rates[place - below]
        tally = held.get(rate, NONE)
        step = step if below == 0 else SearchAnswer("found", rate, rates[place - below + 1])
        if tally.is_open(rule.held_out):
            return SearchAnswer("undecided", rate)
        if tally.refutes:
            continue
        if tally.runs < rule.held_out:
            return SearchStep(rate, "held_out", high=rates[place - below + 1] if below else None)
        break
    return step


def _next(rates: Sequence[float], tried: Mapping[float, Tally], rule: SearchRule) -> SearchStep | SearchAnswer:
    if not tried:
        return SearchStep(rates[0], "first")
    for rate, tally in tried.items():
        if not tally.votes and tally.runs >= min(FAILURES, rule.judged):
            return SearchAnswer("undecided", rate)
        if tally.lead == 0 and not tally.is_decided(rule.judged):
            return SearchStep(rate, "again")
    # If the runs are even after all repeats, the promise does not count as kept.
    over = min((rate for rate, tally in tried.items() if tally.lead <= 0), default=None)
    under = max((rate for rate in tried if over is None or rate < over), default=None)
    if over is None and under is not None and under != rates[-1]:
        # the highest candidate up to twice the rate, and the next one at least
        doubled = max(bisect_left(rates, under) + 1, bisect_right(rates, 2 * under) - 1)
        return SearchStep(rates[doubled], "double", low=under)
    if over is not None and under is not None:
        first, last = bisect_left(rates, under), bisect_left(rates, over)
        if last - first > 1:
            return SearchStep(rates[(first + last) // 2], "halve", under, over)
    edge = [rate for rate in (under, over) if rate is not None and not tried[rate].is_decided(rule.judged)]
    if edge:
        return SearchStep(min(edge, key=lambda rate: tried[rate].runs), "again")
    if under is None:
        return SearchAnswer("none", None, over)
    return SearchAnswer("found", under, over) if over is not None else SearchAnswer("at_least", under)


def agreed(kept: Collection[float], broken: Collection[float]) -> tuple[float | None, float | None]:
    """Return two rates: the highest in `kept` that is below all of `broken`, and the lowest in `broken` that is above
    all of `kept`. A rate is None if there is none. `kept` and `broken` are the rates of runs that kept or broke the
    promise.
    """
    below = min(broken, default=inf)
    above = max(kept, default=0.0)
    kept_to = max((rate for rate in kept if rate < below), default=None)
    return kept_to, min((rate for rate in broken if rate > above), default=None)


def is_lower_bound(kind: str | None, *, by_generator: bool) -> bool:
    """Return whether a search found only a lower bound, because its highest candidate keeps the promise or the
    generator could not offer the next one. Briefs and comparisons then put `≥` before the rate."""
    return kind == "at_least" or by_generator


def candidates(first: float, last: float, within: float) -> tuple[float, ...]:
    """Return the rates of a search in rising order, including both ends.

    Between the ends, each is the highest whole number that is at most half of `within` above the previous rate (in
    logarithms), or the next whole number if that is higher.
    """
    return ramp(first, last, sqrt(1 + within) - 1)


def ramp(first: float, last: float, apart: float) -> tuple[float, ...]:
    """Return whole numbers in rising order, including both ends. Each is the highest number that exceeds the previous
    one by at most a factor of 1 + `apart`, or the next whole number if that is higher."""
    found = [first]
    while found[-1] < last:
        after = max(floor(found[-1]) + 1, floor(found[-1] * (1 + apart) + 1e-6))
        found.append(min(last, float(after)))
    return tuple(found)


def walk(rates: Sequence[float], rule: SearchRule, keeps: Callable[[float], bool]) -> list[tuple[float, bool]]:
    """Return the runs of a search without noise: the rate of each, and whether it is held out."""
    tallies: dict[float, Tally] = {}
    held: dict[float, Tally] = {}
    runs: list[tuple[float, bool]] = []
    while isinstance(step := next_step(rates, tallies, held, rule), SearchStep):
        of = held if step.why == "held_out" else tallies
        of[step.rate] = of.get(step.rate, NONE).and_one("met" if keeps(step.rate) else "broken")
        runs.append((step.rate, step.why == "held_out"))
    return runs


@lru_cache(maxsize=64)
def lengths(rates: tuple[float, ...], judged: int, held_out: int) -> tuple[int, int]:
    """Return how many cells a search without noise measures, averaged over all possible answers. Also return the
    largest number of cells that any search can measure: the longest search, if each of its rates takes all repeats."""
    free = SearchRule(judged=1, held_out=0, most=1_000_000)
    visits = [len(walk(rates, free, lambda rate, top=top: rate <= top)) for top in (0.0, *rates)]  # type: ignore[misc]
    ends = 2 * (min(LEAD, judged) - 1)
    return round(sum(visits) / len(visits)) + ends + held_out, max(visits) * judged + held_out * (1 + LOWER)

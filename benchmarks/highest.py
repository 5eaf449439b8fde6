"""Compares two ways to find the highest rate that keeps a promise: a search, and a ramp of the same resolution.

Both run on simulated queues with a known answer. Each queue has one server and Poisson arrivals (M/M/1). The time that
an operation spends in it is exponential with the rate mu - lambda, so a promise about the 99th percentile, `p99 <
limit`, is kept up to exactly lambda = mu - ln(100) / limit. A run draws its arrivals and service times anew, follows
each operation by D. Lindley's recursion from an empty queue, leaves out a warm-up, and takes the percentile of the
rest. Neighbouring operations wait for the same earlier ones, as on a real server, so the percentile varies as much as
that of a real run of this length.

The search is the product's own rule (`model/rate_search.py`), with its defaults.
"""

from __future__ import annotations

import math
import random
import statistics
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

from benchbrief.model.rate_search import (
    NONE,
    SearchAnswer,
    SearchRule,
    Tally,
    agreed,
    candidates,
    lengths,
    next_step,
    ramp,
)

SEARCHES = 300
WITHIN = 0.03
FIRST, LAST = 1_000.0, 200_000.0
WARM_UP_S, MEASURE_S = 5.0, 120.0
JUDGED, HELD_OUT = 5, 3


def percentile_of(rate: float, mu: float, chance: np.random.Generator) -> float:
    """Return the 99th percentile of the time that operations spend in the queue in one run, in seconds."""
    count = int(rate * (WARM_UP_S + MEASURE_S))
    gaps, served = chance.exponential(1 / rate, count), chance.exponential(1 / mu, count)
    due = np.cumsum(gaps)
    steps = np.concatenate(([0.0], np.cumsum(served[:-1] - gaps[1:])))
    waits = steps - np.minimum.accumulate(steps)
    kept = due > WARM_UP_S
    return float(np.percentile((waits + served)[kept], 99))


@dataclass(frozen=True)
class Search:
    """The result of a search: its answer, its number of runs, whether all its held-out runs kept the promise, and the
    range of rates in which its runs disagree."""

    answer: SearchAnswer
    runs: int
    confirmed: bool
    between: tuple[float, float]


def searched(mu: float, limit: float, seed: int) -> Search:
    rates = candidates(FIRST, LAST, WITHIN)
    rule = SearchRule(JUDGED, HELD_OUT, lengths(rates, JUDGED, HELD_OUT)[1])
    chance = np.random.default_rng(seed)
    tallies: dict[float, Tally] = {}
    held: dict[float, Tally] = {}
    runs = 0
    while not isinstance(step := next_step(rates, tallies, held, rule), SearchAnswer):
        # A queue that is overloaded grows all the time: its percentile is far beyond any limit here.
        kept = step.rate < mu and percentile_of(step.rate, mu, chance) < limit
        of = held if step.why == "held_out" else tallies
        of[step.rate] = of.get(step.rate, NONE).and_one("met" if kept else "broken")
        runs += 1
    tally = held.get(step.rate, NONE) if step.rate is not None else NONE
    kept_to, broken_from = agreed(
        [rate for of in (tallies, held) for rate, tally in of.items() if tally.met],
        [rate for of in (tallies, held) for rate, tally in of.items() if tally.broken],
    )
    return Search(step, runs, tally.confirms, (kept_to or 0.0, broken_from or math.inf))


@dataclass(frozen=True)
class Found:
    """The outcome of a search. `error` is a share of the known answer, or None if held-out runs contradict the search.

    `ramp` is the number of rates in a ramp that rises in steps of 3 % and ends just above the known answer. `between`
    is the range in which the runs disagree, as shares of that answer.
    """

    error: float | None
    runs: int
    ramp: int
    between: tuple[float, float]


def found(number: int) -> Found:
    """Search the queue with this number, and return the outcome."""
    chance = random.Random(number)  # noqa: S311  # made-up queues, which can be had again
    mu = 4_000 * 4 ** chance.random()
    busy = chance.uniform(0.3, 0.9)
    true, limit = mu * busy, math.log(100) / (mu * (1 - busy))
    search = searched(mu, limit, number)
    rate = search.answer.rate
    error = rate / true - 1 if search.confirmed and rate is not None else None
    low, high = (end / true for end in search.between)
    return Found(error, search.runs, 1 + sum(rate <= true for rate in ramp(FIRST, LAST, WITHIN)), (low, high))


def interval(count: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share (E. B. Wilson, Journal of the American Statistical Association 22, 1927)."""
    z, share = 1.96, count / of
    middle, half = share + z * z / (2 * of), z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return (middle - half) / (1 + z * z / of), (middle + half) / (1 + z * z / of)


def main() -> bool:
    """Print how close the searches come. Returns whether 95 of 100 come within 3 % and take half of a ramp's time."""
    with ProcessPoolExecutor() as pool:
        all_found = list(pool.map(found, range(SEARCHES)))
    rates, fine = candidates(FIRST, LAST, WITHIN), ramp(FIRST, LAST, WITHIN)
    off = sorted(abs(each.error) for each in all_found if each.error is not None)
    near = sum(error <= WITHIN for error in off)
    low, high = interval(near, SEARCHES)
    holding = sum(each.between[0] <= 1 <= each.between[1] for each in all_found)
    pairs = list(zip(all_found[::2], all_found[1::2], strict=True))
    apart = sum(one.between[1] <= other.between[0] or other.between[1] <= one.between[0] for one, other in pairs)
    runs = [each.runs for each in all_found]
    mean = statistics.fmean(runs)
    up_to = statistics.fmean(each.ramp for each in all_found)
    usual, most = lengths(rates, JUDGED, HELD_OUT)
    print(f"{SEARCHES} queues (M/M/1, 4k to 16k ops/s, answer at 30 to 90 % of it), {len(rates)} rates")
    detail = f"{100 * near / SEARCHES:.1f} %, 95 % interval {100 * low:.1f} to {100 * high:.1f} %"
    print(f"  runs of {MEASURE_S:g} s; within {100 * WITHIN:g} % of the known answer: {near} of {SEARCHES} ({detail})")
    print(f"  error: median {100 * off[len(off) // 2]:.1f} %, largest {100 * off[-1]:.1f} %")
    print(f"  no rate, as held-out runs contradict it: {SEARCHES - len(off)} of {SEARCHES}, which count as not near")
    low, high = interval(holding, SEARCHES)
    detail = f"95 % interval {100 * low:.1f} to {100 * high:.1f} %"
    print(f"  rates between which runs disagree, with the answer among them: {holding} of {SEARCHES} ({detail})")
    detail = f"{apart} of {len(pairs)}"
    print(f"  pairs of searches, as shares of their answers, that `bench compare` would tell apart: {detail}")
    print(f"  runs: {mean:.1f} on average, {min(runs)} to {max(runs)} (planned: about {usual}, {most} at most)")
    detail = f"{up_to:.0f} rates {100 * WITHIN:g} % apart, each once"
    print(f"  measured seconds: {100 * mean / up_to:.0f} % of a ramp up to the answer, {detail}")
    print(f"    {100 * mean / len(fine):.0f} % of a ramp over all {len(fine)} rates")
    return near >= 0.95 * SEARCHES and mean < 0.5 * up_to

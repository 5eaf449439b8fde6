"""Compares nine adaptive points with nine fixed points and with all candidates, on simulated curves whose true knee is
known.

There are two kinds of curves. The first is N. Gunther's Universal Scalability Law over 1 to 512 threads, with
contention from 0.1 to 16 % and coherency from 1e-6 to 1e-3. The second is an offered load of 1k to 100k ops/s that a
system follows up to a capacity of 2k to 70k ops/s. Each measurement has noise, and a point is the mean of three. Each
curve is drawn as in a brief, with lines on a logarithmic axis, and its knee is found in the same way as
`knee(throughput over threads)` finds it (Kneedle).

The adaptive points are chosen by the product's own rule (`runners/scheduling/point_choice.py`).
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from benchbrief.compiler.blocks.ramps import ramp_candidates
from benchbrief.runners.scheduling.point_choice import next_point

CURVES = 1000
POINTS = 9
REPEATS = 3
Curve = Callable[[float], float]
Measure = Callable[[float], float]


@dataclass
class Tally:
    """The errors of one way to choose points. Errors of throughput are shares of the highest throughput; errors of
    knees are in doublings."""

    mean: list[float] = field(default_factory=list)
    largest: list[float] = field(default_factory=list)
    knee: list[float] = field(default_factory=list)

    def describe(self) -> str:
        return (
            f"curve off by {100 * statistics.fmean(self.mean):.2f} % on average and {100 * _mean(self.largest):.2f} % "
            f"at most; knee off by {_mean(self.knee):.3f} doublings (median {statistics.median(self.knee):.3f})"
        )


def _mean(values: Sequence[float]) -> float:
    return statistics.fmean(values)


def usl(chance: random.Random) -> Curve:
    """Return a curve of the Universal Scalability Law."""
    sigma, kappa = 10 ** chance.uniform(-3, -0.8), 10 ** chance.uniform(-6, -3)
    return lambda n: 1000 * n / (1 + sigma * (n - 1) + kappa * n * (n - 1))


def saturating(chance: random.Random) -> Curve:
    """Return a curve whose achieved load follows the offered load up to a capacity, with a bend of random sharpness."""
    capacity, sharp = 2000 * 35 ** chance.random(), chance.uniform(3, 20)
    return lambda load: (load**-sharp + capacity**-sharp) ** (-1 / sharp)


def knee(points: Mapping[float, float]) -> float:
    """Return the point at which the curve lies highest above the straight line between its ends, with linear axes."""
    loads, rates = list(points), list(points.values())
    width, height = max(loads) - min(loads), (max(rates) - min(rates)) or 1.0
    return -max(((rate - min(rates)) / height - (load - min(loads)) / width, -load) for load, rate in points.items())[1]


def drawn(points: Mapping[float, float], load: float) -> float:
    """Return the height of the drawn line at a point."""
    for (low, left), (high, right) in pairwise(sorted(points.items())):
        if low <= load <= high:
            return left + (right - left) * math.log(load / low) / math.log(high / low)
    raise ValueError(f"{load} is outside")


def fixed(grid: Sequence[float], measure: Measure) -> dict[float, float]:
    """Measure at points with equal ratios between them."""
    first, last = grid[0], grid[-1]
    return {load: measure(load) for n in range(POINTS) if (load := round(first * (last / first) ** (n / (POINTS - 1))))}


def adaptive(grid: Sequence[float], measure: Measure) -> dict[float, float]:
    """Measure at the points that the product's adaptive rule chooses."""
    found: dict[float, float] = {}
    while len(found) < POINTS and (choice := next_point(grid, [found])) is not None:
        found[choice.point] = measure(choice.point)
    return found


def every(grid: Sequence[float], measure: Measure) -> dict[float, float]:
    """Measure all candidates."""
    return {load: measure(load) for load in grid}


WAYS = {f"{POINTS} adaptive": adaptive, f"{POINTS} fixed": fixed, "all": every}
KINDS = (("USL, 1 to 512 threads", usl, 1.0, 512.0), ("saturation, 1k to 100k ops/s", saturating, 1e3, 1e5))


def compared(make: Callable[[random.Random], Curve], first: float, last: float, noise: float) -> dict[str, Tally]:
    """Return the result of each way to choose points, on the same curves with the same noise."""
    chance, grid = random.Random(1), ramp_candidates(first, last)  # noqa: S311  # made-up curves, which can be had again
    fine = [first * (last / first) ** (n / 300) for n in range(301)]
    tallies = {way: Tally() for way in WAYS}
    for _ in range(CURVES):
        curve, seen = make(chance), dict[float, float]()
        own = random.Random(chance.random())  # noqa: S311

        def measure(
            load: float, curve: Curve = curve, seen: dict[float, float] = seen, own: random.Random = own
        ) -> float:
            if load not in seen:
                seen[load] = curve(load) * (1 + _mean([own.gauss(0, noise) for _ in range(REPEATS)]))
            return seen[load]

        top, true = max(map(curve, fine)), knee({load: curve(load) for load in fine})
        for way, choose in WAYS.items():
            points = choose(grid, measure)
            errors = [abs(drawn(points, min(load, last)) - curve(load)) / top for load in fine]
            tallies[way].mean.append(_mean(errors))
            tallies[way].largest.append(max(errors))
            tallies[way].knee.append(abs(math.log2(knee(points) / true)))
    return tallies


def main() -> bool:
    """Print the errors. Returns whether adaptive points find the knee better than the same number of fixed points."""
    held = True
    for name, make, first, last in KINDS:
        for noise in (0.0, 0.02, 0.05):
            found = compared(make, first, last, noise)
            print(f"{name}, noise {100 * noise:.0f} %, {len(ramp_candidates(first, last))} candidates, {CURVES} curves")
            for way, tally in found.items():
                print(f"  {way:<11} {tally.describe()}")
            better, worse = found[f"{POINTS} adaptive"], found[f"{POINTS} fixed"]
            held &= _mean(better.knee) < _mean(worse.knee) and _mean(better.largest) < _mean(worse.largest)
    print("adaptive points find knees better, and the largest error is smaller" if held else "NOT better: look at it")
    return held

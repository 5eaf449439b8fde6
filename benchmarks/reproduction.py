"""Counts how often the verdicts on a reproduction are right, for random numbers whose truth is known: how many claims
hold or fail if nothing has changed, and how often a change of 10 % is found.

Nothing is run or simulated: each repeat is a number drawn from a lognormal distribution, and the product's own rule
judges these numbers. Real noise has other shapes, such as drift and outliers, so these are the best results that the
rule can have. Five claims are judged together. Each repeat has a noise of 2 %. In a claim that compares two sides, each
side has that noise, so that the ratio has 2.8 %.
"""

from __future__ import annotations

import math
import random
from collections import Counter

from benchbrief.results.analysis.reproduction import judge_reproduction
from benchbrief.results.analysis.stated_numbers import StatedNumber, ValueAt
from benchmarks.figures import record

DRAWS, CLAIMS, NOISE = 1_000, 5, 0.02
_OF_RATIO = NOISE * math.sqrt(2)
_REPEATS = ((NOISE, 3), (NOISE, 4), (NOISE, 5), (_OF_RATIO, 5), (_OF_RATIO, 6))
"""Pairs of a number's noise and how many repeats each side has."""
_ENOUGH = ((NOISE, 5), (_OF_RATIO, 6))
"""Those of `_REPEATS` that must reach the goals."""


def _stated(draw: random.Random, name: str, true: float, noise: float, repeats: int) -> StatedNumber:
    values = tuple(true * math.exp(draw.gauss(0, noise)) for _ in range(repeats))
    value = math.exp(math.fsum(map(math.log, values)) / repeats)
    return StatedNumber(
        kind="claim",
        name=name,
        expression=name,
        unit="",
        values=(ValueAt(value=value, repeats=values),),
        is_relative=True,
        no_difference=1.0,
    )


def verdicts(draw: random.Random, noise: float, repeats: int, changed: float = 1.0) -> list[str]:
    """Draw the numbers of five claims for an original and for its reproduction, and return the verdicts. In the
    reproduction, the first claim's true number is multiplied by `changed`."""

    def side(of_first: float) -> list[StatedNumber]:
        trues = [2.0 * of_first, *(2.0 for _ in range(CLAIMS - 1))]
        return [_stated(draw, f"claim {n}", true, noise, repeats) for n, true in enumerate(trues)]

    return [each.verdict for each in judge_reproduction(side(1.0), side(changed))]


def main() -> bool:
    draw = random.Random(11)  # noqa: S311  # noise, not secrets
    good = True
    for noise, repeats in _REPEATS:
        again = Counter(each for _ in range(DRAWS) for each in verdicts(draw, noise, repeats))
        held, failed = again["holds"] / again.total(), again["fails"] / again.total()
        found = [verdicts(draw, noise, repeats, changed)[0] for changed in (0.9, 1.1) for _ in range(DRAWS // 2)]
        seen = found.count("fails") / len(found)
        is_held, of = (noise, repeats) in _ENOUGH, f"at {100 * noise:.1f} % noise with {repeats} repeats"
        record(f"claims of the same again that hold, {of}", f"{100 * held:.1f} %", "95 %" if is_held else "")
        record(f"claims of the same again that do not hold, {of}", f"{100 * failed:.2f} %", "1 %")
        record(f"changes of 10 % that are found, {of}", f"{100 * seen:.1f} %", "95 %" if is_held else "")
        good &= failed <= 0.01 and (not is_held or min(held, seen) >= 0.95)
    return good


if __name__ == "__main__":
    raise SystemExit(not main())

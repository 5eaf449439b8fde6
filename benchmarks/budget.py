"""A budget against a fixed number of repeats, on campaigns that are made up, so that the true answer is known.

A campaign has `WORKLOADS` at `POINTS` points on two hardware groups, measured in turns. Each point has a noise of its
own, between 0.5 and 8 %; the second group is faster or slower by up to 10 %. The question at each point is that of a
spec, `expect throughput[two] > throughput[one]`: it is answered where the interval of the mean difference excludes 0.

Fixed: each point is repeated equally often, with a 95 % interval. Budgeted: the product's own rule
(`runners/scheduling/repeat_allocation.py`) and levels, until all is decided or the time of the fixed campaign is over.
"""

from __future__ import annotations

import math
import random
import statistics
from dataclasses import dataclass, field

from benchbrief.runners.measurement.confidence_interval import t_interval
from benchbrief.runners.scheduling.repeat_allocation import Group, PointSoFar, next_group

CAMPAIGNS = 100
WORKLOADS, POINTS = 4, 5
CELL_H = 0.25
"""A cell of 15 minutes."""
FIXED = (5, 8, 10)
_WITHIN, _FIRST, _MOST = 0.05, 3, 10
_LEVEL = 0.95


@dataclass
class Tally:
    """What campaigns of one kind took, and how their questions were answered."""

    hours: list[float] = field(default_factory=list)
    right: int = 0
    wrong: int = 0
    missed: int = 0
    """Intervals of a mean that do not have the true one."""
    asked: int = 0

    def told(self) -> str:
        share = [100 * each / self.asked for each in (self.right, self.wrong)]
        covered = 100 - 100 * self.missed / (2 * self.asked)
        return (
            f"{statistics.fmean(self.hours):6.1f} h, right {share[0]:5.1f} %, wrong {share[1]:4.2f} %, "
            f"open {100 - sum(share):5.1f} %, means within their intervals {covered:5.1f} %"
        )


@dataclass(frozen=True)
class Question:
    """A point on both hardware groups: true throughputs, and the noise of each measurement as a share."""

    means: tuple[float, float]
    noise: float

    def measured(self, chance: random.Random) -> tuple[float, float]:
        one, two = (chance.gauss(mean, self.noise * mean) for mean in self.means)
        return one, two


def campaign(chance: random.Random) -> list[Question]:
    questions = []
    for _ in range(WORKLOADS * POINTS):
        base, change = chance.uniform(1e3, 1e5), chance.uniform(-0.1, 0.1)
        questions.append(Question((base, base * (1 + change)), 0.005 * 16 ** chance.random()))
    return questions


def fixed(questions: list[Question], repeats: int, seed: int, tally: Tally) -> None:
    chance = random.Random(seed)  # noqa: S311
    values = [[question.measured(chance) for _ in range(repeats)] for question in questions]
    _judge(questions, values, _LEVEL, tally)


def budgeted(questions: list[Question], hours: float, seed: int, tally: Tally) -> None:
    chance = random.Random(seed)  # noqa: S311
    values = [[question.measured(chance)] for question in questions]
    level = 1 - (1 - _LEVEL) / (_MOST - _FIRST + 1)
    spent = 2 * CELL_H * len(questions)
    while spent + 2 * CELL_H <= hours:
        groups = [_group(pairs, level) for pairs in values]
        place = next_group(groups)
        if place is None:
            break
        values[place].append(questions[place].measured(chance))
        spent += 2 * CELL_H
    _judge(questions, values, level, tally)


def _group(pairs: list[tuple[float, float]], level: float) -> Group:
    points = [PointSoFar({"throughput": side}, len(side)) for side in zip(*pairs, strict=True)]
    return Group(points, _FIRST, level, _WITHIN, left=len(pairs) < _MOST, open=_distance(pairs, level))


def _distance(pairs: list[tuple[float, float]], level: float) -> float | None:
    """Return how far an open question is from its answer, as `results/analysis/open_expectations.py` does."""
    differences = [two - one for one, two in pairs]
    if len(differences) < _FIRST:
        return math.inf
    mean = statistics.fmean(differences)
    low, high = t_interval(len(differences), mean, statistics.stdev(differences), level)
    distance = (high - low) / 2 / abs(mean) if low is not None and high is not None else math.inf
    return distance if distance >= 1 else None


def _answer(pairs: list[tuple[float, float]], level: float) -> bool | None:
    differences = [two - one for one, two in pairs]
    if len(differences) < _FIRST:
        return None
    low, high = t_interval(len(differences), statistics.fmean(differences), statistics.stdev(differences), level)
    return None if low is None or high is None or low <= 0 <= high else low > 0


def _judge(questions: list[Question], values: list[list[tuple[float, float]]], level: float, tally: Tally) -> None:
    for question, pairs in zip(questions, values, strict=True):
        answer = _answer(pairs, level)
        tally.asked += 1
        tally.right += answer is not None and answer == (question.means[1] > question.means[0])
        tally.wrong += answer is not None and answer != (question.means[1] > question.means[0])
        for side, mean in zip(zip(*pairs, strict=True), question.means, strict=True):
            low, high = t_interval(len(side), statistics.fmean(side), statistics.stdev(side), level)
            tally.missed += low is None or high is None or not low <= mean <= high
    tally.hours.append(2 * CELL_H * sum(map(len, values)))


def main(campaigns: int = CAMPAIGNS) -> bool:
    held = True
    for repeats in FIXED:
        evenly, by_budget = Tally(), Tally()
        for seed in range(campaigns):
            questions = campaign(random.Random(f"campaign {seed}"))  # noqa: S311
            hours = 2 * CELL_H * len(questions) * repeats
            fixed(questions, repeats, seed, evenly)
            budgeted(questions, hours, seed, by_budget)
        print(f"  {repeats} repeats each:   {evenly.told()}")
        print(f"  a budget as long: {by_budget.told()}")
        held &= by_budget.missed <= 0.05 * 2 * by_budget.asked
    print(f"  budgeted intervals have the mean in 95 % of cases at least: {'yes' if held else 'NO'}")
    return held

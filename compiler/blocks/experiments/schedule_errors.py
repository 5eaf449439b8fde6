"""Mistakes in the schedule of a run (E055x)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from benchbrief.compiler.plain_amounts import duration
from benchbrief.compiler.problems import CompileProblem


@dataclass(frozen=True)
class TooFewRepeats(CompileProblem):
    """Too few repeats for a useful confidence interval."""

    code = "E0550"
    says = "{count} {noun} {are} too few for a useful confidence interval"
    hint = "write `from: {fewest}` or more, or leave it out"
    count: int
    fewest: int

    @property
    def noun(self) -> str:
        return "repeat" if self.count == 1 else "repeats"

    @property
    def are(self) -> str:
        return "is" if self.count == 1 else "are"


@dataclass(frozen=True)
class NoRoomToStop(CompileProblem):
    """A `to:` that is not above `from:`, so that confidence can save no repeat."""

    code = "E0551"
    says = "`to: {most}` must be above `from: {fewest}`, or no repeat can be saved"
    hint = "write a larger `to:`, or `repeats = {most}` for a fixed number"
    fewest: int
    most: int


@dataclass(frozen=True)
class BudgetOfSearch(CompileProblem):
    """A budget of an experiment that searches a knee."""

    code = "E0552"
    says = "a search has no `budget`: it judges each point by all its repeats"
    hint = "give the `budget` to the experiment that uses the knee, or write `bench run --budget` for the whole run"


@dataclass(frozen=True)
class NoRepeatsToChoose(CompileProblem):
    """A budget of an experiment that measures each point once."""

    code = "E0553"
    says = "a `budget` chooses which points are repeated, and nothing is repeated here"
    hint = "write `repeats = confident(within: 5 %, from: 3, to: 10)`, or a number of repeats such as `repeats = 5`"


@dataclass(frozen=True)
class BudgetBelowPass(CompileProblem):
    """A budget in which not even each point can be measured once, by the times that the spec declares."""

    code = "E0554"
    says = "the budget of {budget} is below one pass: to measure each point once takes {needed}"
    mark = "less than {needed}"
    hint = "write `budget = {enough}` or more, besides the time to load; or measure fewer points, or for a shorter time"
    budget_s: float
    needed_s: float

    @property
    def budget(self) -> str:
        return duration(self.budget_s)

    @property
    def needed(self) -> str:
        return duration(self.needed_s)

    @property
    def enough(self) -> str:
        return f"{math.ceil(self.needed_s / 60)} min"

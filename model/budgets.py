"""Budgets of time: which experiments have one, which of their cells come first, and the level of their intervals.

With a budget, each point is measured once before any is repeated. How often a point is repeated then depends on what
was measured so far, so an interval is looked at several times. A 95 % interval that is looked at again and again misses
the mean more often than in 5 % of all cases. Therefore each look has a part of these 5 %, by C. E. Bonferroni's
inequality: O. J. Dunn, "Multiple Comparisons Among Means", Journal of the American Statistical Association 56 (1961).
All looks together then miss in 5 % of all cases at most, whenever the repeats end. The parts are equal for the interval
of a point, so that a brief draws all at one level, and unequal for the verdict on an expectation (`Looks`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.plan import Cell, Expect, Experiment, Plan, Query
from benchbrief.model.points import Point

LEVEL = 0.95
"""The level of every confidence interval and test, unless a budget looks at it several times."""
_FEWEST = 2
"""The fewest repeats from which an interval can be computed."""
_FIRST_LOOK = 3
"""The repeats before a budget first looks at an interval, unless the spec says how many. An interval of two repeats is
hardly ever narrow."""

_OF_FIRST, _OF_BETWEEN = 0.2, 0.3
"""Shares of the chance to be wrong: of the first look at an expectation, and of all looks between it and the last.
Chosen by simulation: `benchmarks/README.md` has figures of other shares."""


_TOGETHER, _DEPENDENT = 1.28, 3
"""The sum of the shares of all looks at an expectation, as a multiple of their joint chance to be wrong, and the
repeats and the number of looks from which it holds. They look at the same repeats, so they often err in the same
cases, which C. E. Bonferroni's inequality does not count. Group sequential tests set their limits by the joint
distribution of their looks: S. J. Pocock, "Group Sequential Methods in the Design and Analysis of Clinical Trials",
Biometrika 64 (1977). The multiple for t of few repeats comes from simulation: of a million rows of normal noise
each, the least sum was 1.298 (looks after 3, 4 and 5 repeats). It is smaller, and left at 1, with fewer repeats, two
looks, or a chance below 5 %."""


@dataclass(frozen=True)
class Looks:
    """After how many repeats an expectation is looked at: once, at the end, where `last` is None, or after each repeat
    from `first` to `last`.

    Each look has a share of the chance to be wrong, fixed before the first repeat: a rule that spends the error, by
    K. K. G. Lan and D. L. DeMets, "Discrete Sequential Boundaries for Clinical Trials", Biometrika 70 (1983). The last
    look has most, as that is what a long budget comes to; the first has more than those between, as clear differences
    are seen by then."""

    first: int = _FEWEST
    last: int | None = None

    @property
    def count(self) -> int:
        return 1 if self.last is None else self.last - self.first + 1

    @property
    def chance(self) -> float:
        """Return the chance to be wrong that the looks share out. Jointly they err in 5 % of all cases at most."""
        dependent = self.first >= _DEPENDENT and self.count >= _DEPENDENT
        return (1 - LEVEL) * (_TOGETHER if dependent else 1.0)

    def until(self, repeats: int) -> list[tuple[int, float]]:
        """Return the looks within this many repeats: the repeats of each, and its share of the chance to be wrong."""
        if self.last is None:
            return [(repeats, 1.0)] if repeats >= self.first else []
        return [(n, self.share(n)) for n in range(self.first, min(repeats, self.last) + 1)]

    def share(self, repeats: int) -> float:
        """Return the share of the look after this many repeats."""
        between = self.count - 2
        if self.count == 1:
            return 1.0
        if repeats == self.first:
            return _OF_FIRST
        if repeats == self.last:
            return 1 - _OF_FIRST - (_OF_BETWEEN if between else 0.0)
        return _OF_BETWEEN / between


def is_budgeted(plan: Plan, experiment: Experiment) -> bool:
    """Return whether a budget spends the experiment's repeats where intervals are widest. Searches and adaptive ramps
    are never budgeted: they decide by their repeats."""
    has_budget = experiment.budget_s is not None or plan.budget_s is not None
    return has_budget and not chooses(experiment) and experiment.repeats > 1


def chooses(experiment: Experiment) -> bool:
    """Return whether the run decides which of the experiment's points it measures, by the repeats of those before."""
    return experiment.search is not None or experiment.adaptive is not None or experiment.promise is not None


def first_look(experiment: Experiment) -> int:
    """Return the number of repeats of a point after which its interval may end them."""
    return experiment.confident.at_least if experiment.confident else min(_FIRST_LOOK, experiment.repeats)


def looks(plan: Plan, experiment: Experiment) -> int:
    """Return how many times an interval of the experiment is looked at, at most."""
    return experiment.repeats - first_look(experiment) + 1 if is_budgeted(plan, experiment) else 1


def level(plan: Plan, experiment: Experiment) -> float:
    """Return the level of each confidence interval of the experiment."""
    return 1 - (1 - LEVEL) / max(1, looks(plan, experiment))


def strictest_level(plan: Plan) -> float:
    """Return the highest level of the plan's experiments, which holds for numbers over several of them."""
    return max((level(plan, each) for each in plan.experiments.values()), default=LEVEL)


def budgeted_cells(plan: Plan, query: Query) -> Iterator[Cell]:
    """Yield the cells of experiments with a budget that a query reads."""
    budgeted = {name for name, each in plan.experiments.items() if is_budgeted(plan, each)}
    if budgeted:
        yield from (cell for cell in cells_read(plan, query) if cell.experiment in budgeted)


def looks_at(plan: Plan, expect: Expect) -> Looks:
    """Return how often an expectation is looked at: once, at the end, unless a budget may end its points earlier.

    A side has one value per repeat, so the side with fewer repeats limits the number of differences.
    """
    read = {cell.experiment for cell in budgeted_cells(plan, expect.query)}
    sides = [{cell.experiment for cell in cells_read(plan, side)} for side in expect.repeats]
    most = [max(plan.experiments[name].repeats for name in names) for names in sides if names]
    if not read or min(most, default=_FEWEST) < _FEWEST:
        return Looks()
    first = max(first_look(plan.experiments[name]) for name in read)
    return Looks(first, max(first, min(most, default=first)))


def cells_read(plan: Plan, query: Query) -> Iterator[Cell]:
    """Yield the cells that a query reads; all of them where the plan is too old to say."""
    unvaried = dict.fromkeys(plan.factors)
    for cell in plan.cells:
        known = {**unvaried, **Point.of(cell).known_keys}
        if query.reads is None or any(read.covers(known) for read in query.reads):
            yield cell


def first_pass(cells: Iterable[Cell]) -> set[str]:
    """Return the ids of the first cell of each point, in the order of the cells."""
    first: dict[Point, str] = {}
    for cell in cells:
        first.setdefault(Point.of(cell), cell.id)
    return set(first.values())


def needed_cells(plan: Plan, experiments: Mapping[str, Experiment] | None = None) -> set[str]:
    """Return the ids of the cells that no budget may leave out: each point once, and all of a search. With
    `experiments`, only their cells count."""
    theirs = [cell for cell in plan.cells if cell.experiment in (experiments or plan.experiments)]
    first = first_pass(theirs)
    return {cell.id for cell in theirs if cell.id in first or not is_budgeted(plan, plan.experiments[cell.experiment])}

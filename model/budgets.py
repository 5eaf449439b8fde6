"""Time budgets: the experiments that have one, the cells that come first, and the confidence level of intervals.

With a budget, each point is measured once before any point is repeated. How often a point is repeated then depends on
the results so far, so its interval is looked at several times. If a 95 % interval is looked at again and again, it
misses the mean in more than 5 % of all cases. Therefore each look gets a part of these 5 %, by C. E. Bonferroni's
inequality: O. J. Dunn, "Multiple Comparisons Among Means", Journal of the American Statistical Association 56 (1961).
All looks together then miss in at most 5 % of all cases, whenever the repeats end. For a point's interval, the parts
are equal, so that a brief draws all intervals at one level. For the verdict on an expectation, they are unequal
(`Looks`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.plan import Cell, Expect, Experiment, Plan, Query
from benchbrief.model.points import Point

LEVEL = 0.95
"""The level of every confidence interval and test, unless a budget looks at it several times."""
_FEWEST = 2
"""The fewest repeats that allow an interval to be computed."""
_FIRST_LOOK = 3
"""The number of repeats before a budget first looks at an interval, unless the spec sets it. Intervals of two repeats
are rarely narrow."""

_OF_FIRST, _OF_BETWEEN = 0.2, 0.3
"""How much of the allowed chance of an error goes to the first look at an expectation, and how much to all looks
between the first and the last. Both shares were chosen by simulation; `benchmarks/README.md` has figures for others.
"""


_TOGETHER, _DEPENDENT = 1.28, 3
"""If there are at least `_DEPENDENT` repeats before the first look, and at least as many looks, the looks' chances of
an error may add up to `_TOGETHER` times the chance that is allowed for all of them.

All looks see the same repeats, so they often err in the same cases. C. E. Bonferroni's inequality does not take that
into account, but group sequential tests set their limits by the joint distribution of their looks: S. J. Pocock, "Group
Sequential Methods in the Design and Analysis of Clinical Trials", Biometrika 64 (1977). The multiple for Student's t of
few repeats comes from simulations, each with a million rows of normal noise. The smallest was 1.298, for looks after 3,
4 and 5 repeats. With fewer repeats, two looks, or a chance below 5 %, the multiple is smaller, and 1 is used.
"""


@dataclass(frozen=True)
class Looks:
    """The numbers of repeats at which an expectation is judged: every number from `first` to `last`, or only the number
    at the end if `last` is None.

    Each look has a share of the allowed error, fixed before the first repeat. This is an error-spending rule as in K.
    K. G. Lan and D. L. DeMets, "Discrete Sequential Boundaries for Clinical Trials", Biometrika 70 (1983). The last
    look has the largest share, because a long budget reaches it. The first look has a larger share than those between,
    because it already shows clear differences.
    """

    first: int = _FEWEST
    last: int | None = None

    @property
    def count(self) -> int:
        return 1 if self.last is None else self.last - self.first + 1

    @property
    def chance(self) -> float:
        """Return the sum of all looks' chances of an error. Together, the looks err in at most 5 % of all cases."""
        dependent = self.first >= _DEPENDENT and self.count >= _DEPENDENT
        return (1 - LEVEL) * (_TOGETHER if dependent else 1.0)

    def until(self, repeats: int) -> list[tuple[int, float]]:
        """Return the looks within this many repeats. For each look, return the number of repeats and the look's share
        of the chance of an error."""
        if self.last is None:
            return [(repeats, 1.0)] if repeats >= self.first else []
        return [(n, self.share(n)) for n in range(self.first, min(repeats, self.last) + 1)]

    def share(self, repeats: int) -> float:
        """Return the share of the error that belongs to the look after this many repeats."""
        between = self.count - 2
        if self.count == 1:
            return 1.0
        if repeats == self.first:
            return _OF_FIRST
        if repeats == self.last:
            return 1 - _OF_FIRST - (_OF_BETWEEN if between else 0.0)
        return _OF_BETWEEN / between


def is_budgeted(plan: Plan, experiment: Experiment) -> bool:
    """Return whether a budget chooses which points of the experiment are repeated (those with the widest intervals). A
    budget never does this for searches and adaptive ramps, whose repeats determine the next points."""
    has_budget = experiment.budget_s is not None or plan.budget_s is not None
    return has_budget and not chooses(experiment) and experiment.repeats > 1


def chooses(experiment: Experiment) -> bool:
    """Return whether the run chooses the experiment's points as it goes, by the results of earlier points."""
    return experiment.search is not None or experiment.adaptive is not None or experiment.promise is not None


def first_look(experiment: Experiment) -> int:
    """Return how many repeats a point needs before a narrow interval may end its repeats."""
    return experiment.confident.at_least if experiment.confident else min(_FIRST_LOOK, experiment.repeats)


def looks(plan: Plan, experiment: Experiment) -> int:
    """Return the largest possible number of looks at an interval of the experiment."""
    return experiment.repeats - first_look(experiment) + 1 if is_budgeted(plan, experiment) else 1


def level(plan: Plan, experiment: Experiment) -> float:
    """Return the confidence level of the experiment's intervals."""
    return 1 - (1 - LEVEL) / max(1, looks(plan, experiment))


def strictest_level(plan: Plan) -> float:
    """Return the highest level of the plan's experiments, which applies to numbers that combine several experiments."""
    return max((level(plan, each) for each in plan.experiments.values()), default=LEVEL)


def budgeted_cells(plan: Plan, query: Query) -> Iterator[Cell]:
    """Yield the cells of a query that belong to experiments with a budget."""
    budgeted = {name for name, each in plan.experiments.items() if is_budgeted(plan, each)}
    if budgeted:
        yield from (cell for cell in cells_read(plan, query) if cell.experiment in budgeted)


def looks_at(plan: Plan, expect: Expect) -> Looks:
    """Return the looks at an expectation. There is only one, at the end, unless a budget may end the repeats of its
    points earlier.

    A side has one value for each repeat, so the side with fewer repeats limits the number of differences.
    """
    read = {cell.experiment for cell in budgeted_cells(plan, expect.query)}
    sides = [{cell.experiment for cell in cells_read(plan, side)} for side in expect.repeats]
    most = [max(plan.experiments[name].repeats for name in names) for names in sides if names]
    if not read or min(most, default=_FEWEST) < _FEWEST:
        return Looks()
    first = max(first_look(plan.experiments[name]) for name in read)
    return Looks(first, max(first, min(most, default=first)))


def cells_read(plan: Plan, query: Query) -> Iterator[Cell]:
    """Yield the cells that a query reads, or all cells if the plan is too old to name them."""
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
    """Return the ids of the cells that no budget may leave out: the first cell of each point, and all cells of a
    search. If `experiments` are given, only their cells count."""
    theirs = [cell for cell in plan.cells if cell.experiment in (experiments or plan.experiments)]
    first = first_pass(theirs)
    return {cell.id for cell in theirs if cell.id in first or not is_budgeted(plan, plan.experiments[cell.experiment])}

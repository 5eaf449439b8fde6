"""Budgets of time: which experiments have one, which of their cells come first, and the level of their intervals.

With a budget, each point is measured once before any is repeated. How often a point is repeated then depends on what
was measured so far, so an interval is looked at several times. A 95 % interval that is looked at again and again misses
the mean more often than in 5 % of all cases. Therefore each look has a part of these 5 %, by C. E. Bonferroni's
inequality: O. J. Dunn, "Multiple Comparisons Among Means", Journal of the American Statistical Association 56 (1961).
All looks together then miss in 5 % of all cases at most, whenever the repeats end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from benchbrief.compiler.planning.plan import Cell, Dimension, Expect, Experiment, Plan

LEVEL = 0.95
"""The level of every confidence interval and test, unless a budget looks at it several times."""
_FIRST_LOOK = 2
"""The repeats that an interval takes."""

Point = tuple[str, str, str, int | None, float | None]
"""A point of an experiment, on one hardware and with one workload."""


def point_of(cell: Cell) -> Point:
    """Return the point of a cell. One whose knee is not found yet is one point."""
    return cell.experiment, cell.hardware, cell.workload, cell.threads, cell.target


def keys_of(cell: Cell) -> dict[Dimension, str | int | float | None]:
    """Return the keys of the cell's point by dimension; None where it has none, or a search has not found it yet."""
    experiment, hardware, workload, threads, target = point_of(cell)
    return {
        "experiment": experiment,
        "hardware": hardware,
        "workload": workload,
        "threads": threads,
        "target": target,
    }


def is_budgeted(plan: Plan, experiment: Experiment) -> bool:
    """Return whether the experiment's repeats go where intervals are widest. Searches judge by their repeats,
    and an adaptive ramp chooses by them."""
    has_budget = experiment.budget_s is not None or plan.budget_s is not None
    return has_budget and not chooses(experiment) and experiment.repeats > 1


def chooses(experiment: Experiment) -> bool:
    """Return whether the run decides which of the experiment's points it measures, by the repeats of those before."""
    return experiment.search is not None or experiment.adaptive is not None or experiment.promise is not None


def first_look(experiment: Experiment) -> int:
    """Return after how many repeats of a point its interval may end them."""
    return experiment.confident.at_least if experiment.confident else _FIRST_LOOK


def looks(plan: Plan, experiment: Experiment) -> int:
    """Return how often an interval of the experiment is looked at, at most."""
    return experiment.repeats - first_look(experiment) + 1 if is_budgeted(plan, experiment) else 1


def level(plan: Plan, experiment: Experiment) -> float:
    """Return the level of each single interval."""
    return 1 - (1 - LEVEL) / max(1, looks(plan, experiment))


def strictest_level(plan: Plan) -> float:
    """Return the highest level of the plan's experiments, which holds for numbers over several of them."""
    return max((level(plan, each) for each in plan.experiments.values()), default=LEVEL)


def budgeted_cells(plan: Plan, expect: Expect) -> Iterator[Cell]:
    """Yield the cells of experiments with a budget that an expectation reads."""
    budgeted = {name for name, each in plan.experiments.items() if is_budgeted(plan, each)}
    reads = expect.query.reads or ()
    for cell in plan.cells if budgeted else ():
        if cell.experiment in budgeted:
            known: dict[str, object] = {dim: key for dim, key in keys_of(cell).items() if key is not None}
            if any(read.covers(known) for read in reads):
                yield cell


def fewest_to_decide(plan: Plan, expect: Expect) -> int:
    """Return how many repeats the interval of an expectation takes: an interval that is looked at earlier than its
    points' would be one look too many (`looks`)."""
    read = {cell.experiment for cell in budgeted_cells(plan, expect)}
    return max((first_look(plan.experiments[name]) for name in read), default=_FIRST_LOOK)


def first_pass(cells: Iterable[Cell]) -> set[str]:
    """Return the ids of the first cell of each point, in the order of the cells."""
    first: dict[Point, str] = {}
    for cell in cells:
        first.setdefault(point_of(cell), cell.id)
    return set(first.values())


def needed_cells(plan: Plan, experiments: Mapping[str, Experiment] | None = None) -> set[str]:
    """Return the ids of the cells that no budget may leave out: each point once, and all of a search.

    `experiments`: only theirs.
    """
    theirs = [cell for cell in plan.cells if cell.experiment in (experiments or plan.experiments)]
    first = first_pass(theirs)
    return {cell.id for cell in theirs if cell.id in first or not is_budgeted(plan, plan.experiments[cell.experiment])}

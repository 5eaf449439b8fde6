"""Whether repeats that a budget left out in an earlier run stay left out in another.

What was decided must be what would be decided again: the same rule for repeats and the same budgets, at a point of
which no more is asked for. A repeat that was not needed does not depend on how long the budget is.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchbrief.compiler.planning.budgets import is_budgeted
from benchbrief.compiler.planning.plan import Cell, Experiment, Plan
from benchbrief.results.analysis.interim_samples import AskedSamples
from benchbrief.results.ingest.cell_verdicts import Verdict
from benchbrief.runners.scheduling.reported_statistics import AskedStatistics


def stays_left_out(left_out: Verdict, then: Plan, cell: Cell, now: Plan) -> bool:
    """Return whether a `cell` of the plan `now` stays out, as one that the rules of the plan `then` left out."""
    before, after = then.experiments[left_out.cell.experiment], now.experiments[cell.experiment]
    if (before.search, before.repeats, before.confident) != (after.search, after.repeats, after.confident):
        return False
    if is_budgeted(then, before) != is_budgeted(now, after):
        return False
    if not is_budgeted(now, after):
        return True
    if left_out.no_room and _budgets(then, before) != _budgets(now, after):
        return False
    more = set(AskedStatistics(now).of(cell)) - set(AskedStatistics(then).of(left_out.cell))
    more |= AskedSamples(now).of(cell) - AskedSamples(then).of(left_out.cell)
    return not more and set(_compared(now, cell)) <= set(_compared(then, left_out.cell))


def _budgets(plan: Plan, experiment: Experiment) -> tuple[float | None, float | None]:
    return experiment.budget_s, plan.budget_s


def _compared(plan: Plan, cell: Cell) -> Iterator[tuple[str, ...]]:
    """Yield the comparisons over repeats that read the cell."""
    place = {
        "experiment": cell.experiment,
        "hardware": cell.hardware,
        "workload": cell.workload,
        "threads": cell.threads,
        "target": cell.target,
    }
    known = {key: value for key, value in place.items() if value is not None}
    for expect in plan.expects:
        if expect.repeats and any(read.covers(known) for read in expect.query.reads or ()):
            yield tuple(side.sql for side in expect.repeats)

"""What a run is expected to take, for its journal: afterwards, the estimate stands against the times that it took."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchbrief.compiler.planning.plan import Plan
    from benchbrief.runners.journal.events import TimeEstimated
    from benchbrief.runners.journal.run_record import RunRecord


def expected_times(plan: Plan, run_dir: Path, before: RunRecord, *, report: bool) -> TimeEstimated | None:
    """Estimate the cells that are not good yet by the other runs of the folder.

    `report`: the reports will be rendered. Returns None for a simulated run, and for one that has begun before.
    """
    from benchbrief.compiler.estimates.budget_fit import most_s
    from benchbrief.compiler.estimates.counted_cells import counted_cells
    from benchbrief.compiler.estimates.estimate import alone
    from benchbrief.compiler.estimates.learned import with_history
    from benchbrief.compiler.estimates.time_spent import time_spent
    from benchbrief.results.runs.find_runs import is_simulated
    from benchbrief.results.runs.learned_times import learned_times
    from benchbrief.runners.journal.events import TimeEstimated

    if before.starts or is_simulated(run_dir):
        return None
    done = before.finished(plan)
    left = alone(plan.cells, counted_cells(plan.cells, plan.experiments, done) - done)
    history = learned_times(run_dir.parent, before=run_dir)
    estimated = with_history(plan.model_copy(update={"cells": left}), history)
    rendering_s = estimated.rendering_s if report else 0.0
    spent = time_spent(estimated.plan, rendering_s)
    return TimeEstimated(
        at=0.0,
        seconds={name: {**activities} for name, activities in spent.experiments.items()},
        rendering_s=rendering_s,
        wall_s=most_s(estimated.plan) + rendering_s,
        runs=tuple(dict.fromkeys(source.run for source in estimated.sources if source.run)),
    )

"""What is known of a run before it goes on: its times as estimated, and what an earlier controller has done."""

from __future__ import annotations

from pathlib import Path

from benchbrief.compiler.estimates.budget_fit import most_s
from benchbrief.compiler.estimates.counted_cells import counted_cells
from benchbrief.compiler.estimates.estimate import alone
from benchbrief.compiler.estimates.learned import with_history
from benchbrief.compiler.estimates.time_spent import time_spent
from benchbrief.compiler.planning.plan import Plan
from benchbrief.progress.run_view import Known
from benchbrief.results.runs.find_runs import is_simulated
from benchbrief.results.runs.learned_times import learned_times, timed_plan
from benchbrief.results.runs.pace import Pace, pace_of
from benchbrief.results.runs.times_taken import times_taken
from benchbrief.runners.journal.events import TimeEstimated
from benchbrief.runners.journal.run_record import RunRecord
from benchbrief.runners.scheduling.promise_search import votes_of


def expected_times(plan: Plan, run_dir: Path, before: RunRecord, *, report: bool) -> TimeEstimated | None:
    """Estimate the cells that are not good yet by the other runs of the folder.

    `report`: the reports will be rendered. Returns None for a simulated run, and for one that has begun before.
    """
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


def known_before(plan: Plan, run_dir: Path, before: RunRecord, expected: TimeEstimated | None) -> Known:
    timed = timed_plan(plan, run_dir)
    done = before.finished(plan) - before.not_chosen
    took = {name: None if name in before.reused else before.times.seconds.get(name) for name in done}
    pace = pace_of(timed, times_taken(run_dir)) if before.starts else Pace()
    estimated = expected or before.estimated
    return Known(
        timed,
        took,
        pace,
        rendering_s=estimated.rendering_s if estimated else 0.0,
        wall_s=expected.wall_s if expected else None,
        spent_s=before.elapsed_s(before.last_at) if before.last_at is not None else 0.0,
        votes=votes_of(plan, before),
        left_out=before.not_chosen & {cell.id for cell in plan.cells},
    )

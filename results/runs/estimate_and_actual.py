"""What a run was expected to take against what it took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from benchbrief.compiler.estimates.estimate import alone, estimate
from benchbrief.compiler.estimates.time_spent import ACTIVITIES, Activity, time_spent
from benchbrief.compiler.planning.budgets import is_budgeted
from benchbrief.compiler.planning.plan import Plan
from benchbrief.results.runs.learned_times import timed_plan
from benchbrief.results.runs.times_taken import times_taken


class Compared(NamedTuple):
    """Seconds of one activity, as estimated and as taken."""

    activity: Activity
    estimated_s: float
    taken_s: float


@dataclass(frozen=True)
class TimeCompared:
    """`wall_estimated_s` and `wall_taken_s` are from beginning to end. `in_all` adds up hosts that worked side by side,
    as do the `experiments`. `runs` are the earlier runs that the estimate was learned from. `of_those_made`: the
    estimate is of the cells that were run, as a budget chose among the planned repeats."""

    wall_estimated_s: float
    wall_taken_s: float
    in_all: tuple[Compared, ...]
    experiments: Mapping[str, tuple[Compared, ...]]
    runs: tuple[str, ...]
    of_those_made: bool = False

    def as_dict(self) -> dict[str, object]:
        return {
            "estimated_s": round(self.wall_estimated_s, 3),
            "taken_s": round(self.wall_taken_s, 3),
            "in_all": _as_dict(self.in_all),
            "experiments": {name: _as_dict(rows) for name, rows in self.experiments.items()},
            "learned_from": list(self.runs),
        }


def compare_times(run_dir: Path, plan: Plan) -> TimeCompared | None:
    """Compare a run's estimate with its times so far. None when its journal has no estimate, or can't be read.

    The journal's estimate has all repeats. Where a budget chooses among them, the cells that were run are estimated
    again, by the runs of the folder before this one.
    """
    try:
        taken = times_taken(run_dir)
    except (OSError, ValueError):
        return None
    estimated = taken.estimated
    if estimated is None:
        return None
    spent, wall_s = taken.spent(plan), estimated.wall_s
    of_experiments: Mapping[str, Mapping[str, float]] = estimated.seconds
    budgeted = [name for name, each in plan.experiments.items() if name in of_experiments and is_budgeted(plan, each)]
    if budgeted:
        cells, ran = timed_plan(plan, run_dir).cells, {attempt.cell for attempt in taken.attempts.values()}
        made = plan.model_copy(update={"cells": alone(cells, ran)})
        again = time_spent(made).experiments
        of_made = {name: {str(activity): seconds for activity, seconds in again[name].items()} for name in budgeted}
        of_experiments = {**of_experiments, **of_made}
        wall_s = estimate(made.cells) + estimated.rendering_s
    experiments = {
        name: tuple(
            Compared(each, of.get(each, 0.0), spent[name][each] if name in spent else 0.0) for each in ACTIVITIES
        )
        for name, of in of_experiments.items()
    }
    rendered_s = sum(taken.reports.values())
    rendering = Compared("rendering", estimated.rendering_s, rendered_s)
    every = [*(row for rows in experiments.values() for row in rows), rendering]
    return TimeCompared(
        wall_s,
        taken.wall_s + rendered_s,
        tuple(_sum(activity, every) for activity in ACTIVITIES),
        experiments,
        estimated.runs,
        bool(budgeted),
    )


def _sum(activity: Activity, rows: list[Compared]) -> Compared:
    mine = [row for row in rows if row.activity == activity]
    return Compared(activity, sum(row.estimated_s for row in mine), sum(row.taken_s for row in mine))


def _as_dict(rows: tuple[Compared, ...]) -> dict[str, dict[str, float]]:
    return {row.activity: {"estimated_s": round(row.estimated_s, 3), "taken_s": round(row.taken_s, 3)} for row in rows}

"""What fits in the budgets of a run, told before it begins."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from benchbrief.cli.terminal import fail
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.progress.run_progress import Progress

if TYPE_CHECKING:
    from benchbrief.compiler.planning.plan import Plan

_MINUTE_S = 60.0


def refuse_small_budgets(plan: Plan, out: Path, *, simulated: bool, progress: Progress) -> None:
    """Say what fits in each budget, by the estimates of `bench plan`. Raises Stop for one below one pass."""
    if plan.budget_s is None and all(each.budget_s is None for each in plan.experiments.values()):
        return
    from benchbrief.compiler.estimates.budget_fit import budget_fits
    from benchbrief.compiler.estimates.learned import with_history
    from benchbrief.results.runs.learned_times import learned_times

    # A simulated run takes the times of its plan.
    for fit in budget_fits(plan if simulated else with_history(plan, learned_times(out)).plan):
        if not fit.fits:
            enough = math.ceil(fit.pass_s / _MINUTE_S)
            hint = f"a budget of {enough} min or more, fewer points, or a shorter time for each"
            raise fail(f"the budget of {fit.text}", hint, ExitCode.SPEC_WRONG)
        progress.note(f"budget: {fit.text}")

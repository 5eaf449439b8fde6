"""What fits in the budgets of a run, shown before it begins."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from benchbrief.cli.terminal import fail
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.progress.run_progress import Progress

if TYPE_CHECKING:
    from benchbrief.compiler.estimates.budget_fit import BudgetFit
    from benchbrief.compiler.planning.plan import Plan

_MINUTE_S = 60.0


def fits_after(plan: Plan, out: Path | None) -> tuple[BudgetFit, ...]:
    """Return what fits in each budget. Where one is too small, results that the folder's runs have take no time."""
    from benchbrief.compiler.estimates.budget_fit import budget_fits

    fits = budget_fits(plan)
    if out is None or all(each.fits for each in fits):
        return fits
    from benchbrief.results.runs.reusable_results import find_reusable

    return budget_fits(plan, {each.cell.id for each in find_reusable(plan, out).carried})


def refuse_small_budgets(
    plan: Plan, out: Path, *, simulated: bool, progress: Progress, taken: Collection[str] = ()
) -> None:
    """Say what fits in each budget, by the estimates of `bench plan`. Raises Stop for one below one pass.

    Cells in `taken`, by their ids, have results of earlier runs, and take no time.
    """
    if plan.budget_s is None and all(each.budget_s is None for each in plan.experiments.values()):
        return
    from benchbrief.compiler.estimates.budget_fit import budget_fits
    from benchbrief.compiler.estimates.learned import with_history
    from benchbrief.results.runs.learned_times import learned_times

    # A simulated run takes the times of its plan.
    for fit in budget_fits(plan if simulated else with_history(plan, learned_times(out)).plan, taken):
        if not fit.fits:
            raise fail(f"the budget of {fit.text}", fit.mended, ExitCode.SPEC_WRONG)
        if fit.pass_s:
            progress.note(f"budget: {fit.text}")


def budget_advice(plan: Plan, command: str, *, simulated: bool) -> tuple[str, str]:
    """Return what helps where a budget had no room for points, with the command for it. `command` runs the plan."""
    if simulated:
        return "give the budget more room, in the spec or with --budget, and simulate it again with", command
    budget = f" --budget {_as_option(plan.budget_s)}" if plan.budget_s is not None else ""
    return "measure what is missing, beside what this run has measured, with", f"{command}{budget}"


def _as_option(seconds: float) -> str:
    """Return a time as `--budget` takes it: one number and one unit."""
    for size, unit in ((3600.0, "h"), (_MINUTE_S, "min")):
        if seconds % size == 0:
            return f"{seconds / size:.0f}{unit}"
    return f"{seconds:g}s"

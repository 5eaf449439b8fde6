"""The results that `bench run` takes from earlier runs, and its messages about them."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from benchbrief.cli.terminal import fail
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.progress.run_progress import Progress

if TYPE_CHECKING:
    from benchbrief.compiler.estimates.budget_fit import BudgetFit
    from benchbrief.model.events import CellReused
    from benchbrief.model.plan import Plan
    from benchbrief.progress.run_progress import Progress
    from benchbrief.results.runs.reusable_results import Reuse
    from benchbrief.runners.reuse import Carried

_MINUTE_S = 60.0


def fits_after(plan: Plan, out: Path | None) -> tuple[BudgetFit, ...]:
    """Return what fits in each budget. If a budget is too small, its cells are looked up in the folder's earlier runs.
    Cells with results there are assumed to take no time."""
    from benchbrief.compiler.estimates.budget_fit import budget_fits

    fits = budget_fits(plan)
    if out is None or all(each.fits for each in fits):
        return fits
    from benchbrief.results.runs.reusable_results import find_reusable

    return budget_fits(plan, {each.cell.id for each in find_reusable(plan, out).carried})


def refuse_small_budgets(
    plan: Plan, out: Path, *, simulated: bool, progress: Progress, taken: Collection[str] = ()
) -> None:
    """Show what fits in each budget, by the estimates of `bench plan`. Raises Stop if a budget is too small for one
    pass.

    `taken` has the ids of cells with results from earlier runs, which take no time.
    """
    if plan.budget_s is None and all(each.budget_s is None for each in plan.experiments.values()):
        return
    from benchbrief.compiler.estimates.budget_fit import budget_fits
    from benchbrief.compiler.estimates.learned import with_history
    from benchbrief.results.runs.times_taken import learned_times

    # A simulated run takes the times of its plan.
    for fit in budget_fits(plan if simulated else with_history(plan, learned_times(out)).plan, taken):
        if not fit.fits:
            raise fail(f"the budget of {fit.text}", fit.mended, ExitCode.SPEC_WRONG)
        if fit.pass_s:
            progress.note(f"budget: {fit.text}")


def budget_advice(plan: Plan, command: str, *, simulated: bool) -> tuple[str, str]:
    """Return advice about points that did not fit in a budget, and the command to type. `command` runs the plan."""
    if simulated:
        return "give the budget more room, in the spec or with --budget, and simulate it again with", command
    budget = f" --budget {_as_option(plan.budget_s)}" if plan.budget_s is not None else ""
    return "measure what is missing, beside what this run has measured, with", f"{command}{budget}"


def _as_option(seconds: float) -> str:
    """Return a time in the form that `--budget` takes, which is one number and one unit."""
    for size, unit in ((3600.0, "h"), (_MINUTE_S, "min")):
        if seconds % size == 0:
            return f"{seconds / size:.0f}{unit}"
    return f"{seconds:g}s"


Source = tuple[str, str, str]
"""A cell of the plan, with the earlier run that measured it and the cell's id there."""


@dataclass(frozen=True)
class Taken:
    """The results taken from earlier runs. `notes` explain why no more were taken, and `warnings` are kept with the
    run."""

    plan: Plan
    carried: tuple[Carried, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    found: frozenset[Source] = frozenset()
    """The earlier results that were found before the hosts were checked."""

    def show(self, progress: Progress) -> None:
        for text in (*self.notes, *([self.sentence] if self.carried else ())):
            progress.note(text)
        for text in self.warnings:
            progress.warn(text)

    def begin(self, run_dir: Path) -> None:
        from benchbrief.runners.reuse import carry

        carry(run_dir, self.plan, self.carried, self.warnings)

    @property
    def sentence(self) -> str:
        """A sentence such as `18 of 24 cells are taken from run X of 2026-11-20; 6 are measured; --fresh measures all
        again`."""
        from benchbrief.compiler.estimates.estimate import counted_cells
        from benchbrief.dsl.diagnostics.plain_amounts import plural
        from benchbrief.model.planned_cells import planned_cells

        sources = taken_from(self.carried)
        taken = {each.cell.id for each in self.carried}
        needed = counted_cells(self.plan.cells, self.plan.experiments, taken) | taken
        total, left = len(needed), len(needed) - len(taken)
        skipped = sum(each.skipped for each in self.carried)
        who = _counted(len(self.carried) - skipped, total)
        where = (
            f"from run {sources[0].run_id} of {sources[0].date}"
            if len(sources) == 1
            else "from earlier runs: " + ", ".join(f"{s.cells} from {s.run_id} of {s.date}" for s in sources)
        )
        rest = f"{left} {'is' if left == 1 else 'are'} measured" if left else "none is left to measure"
        if any(each.promise for each in self.plan.experiments.values()):
            # A search's cells are known only as it measures, so the only total to name is the most that it may measure.
            some = len(self.carried) - skipped
            who = f"{plural(some, 'cell')} of up to {planned_cells(self.plan):,} {'is' if some == 1 else 'are'}"
            rest = "its search measures what else it needs"
        if skipped:
            rest = f"{skipped} {'is' if skipped == 1 else 'are'} not needed; {rest}"
        return f"{who} taken {where}; {rest}; --fresh measures all again"


def _counted(some: int, total: int) -> str:
    if some == total:
        return "the only cell is" if total == 1 else f"all {total} cells are"
    return f"{some} of {total} cells {'is' if some == 1 else 'are'}"


@dataclass(frozen=True)
class SourceRun:
    """An earlier run that measured cells of this one. `date` is the day (UTC) on which the first of these cells was
    measured."""

    run_id: str
    date: str
    cells: int


def taken_from(carried: Iterable[Carried]) -> list[SourceRun]:
    """Return the runs that measured these results, oldest first."""
    times: dict[str, list[float]] = {}
    for each in carried:
        if not each.skipped:
            times.setdefault(each.run_id, []).append(each.measured_at)
    order = sorted(times.items(), key=lambda item: min(item[1]))
    return [SourceRun(run_id, day(min(all_)), len(all_)) for run_id, all_ in order]


def day(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"


def reused_as_dict(reused: Iterable[CellReused]) -> list[dict[str, object]]:
    return [
        {
            "cell": each.cell,
            "run": each.reused_from,
            "as": each.as_cell,
            "measured_at": datetime.fromtimestamp(each.measured_at, UTC).isoformat(timespec="seconds"),
        }
        for each in reused
    ]


def look_for_earlier(plan: Plan, out: Path) -> Taken:
    """Return the results that can be taken from a folder's runs, after checking whether the hosts are still the
    same."""
    from benchbrief.results.runs.reusable_results import find_reusable, why_nothing
    from benchbrief.runners.reuse import recheck

    found: Reuse = find_reusable(plan, out)
    looked = recheck(plan, found.carried)
    kept = found.without(looked.changed)
    notes = [f"not taken from an earlier run: {text}" for text in kept.passed_over]
    if not kept.carried and not notes and (why := why_nothing(plan, out)):
        notes = [f"nothing is taken from earlier runs: {why}"]
    warnings = tuple(looked.warnings) if kept.carried else ()
    return Taken(plan, kept.carried, tuple(notes), warnings, _sources(found))


def _sources(found: Reuse) -> frozenset[Source]:
    return frozenset((each.cell.id, each.run_id, each.as_cell) for each in found.carried)


@dataclass(frozen=True)
class Retake:
    """Chooses again which earlier results a new run takes. This is needed after a wait for hosts, because other runs
    may have ended meanwhile.

    `found` has the earlier results that were available when the run was made.
    """

    out: Path
    found: frozenset[Source]

    def is_outdated(self, plan: Plan) -> bool:
        from benchbrief.results.runs.reusable_results import find_reusable

        return _sources(find_reusable(plan, self.out)) != self.found

    def renew(self, plan: Plan, run_dir: Path, progress: Progress) -> Retake:
        """Start the run over with the results that are available now. Returns a Retake for use after another wait."""
        from benchbrief.runners.journal.journal_file import JOURNAL

        (run_dir / JOURNAL).unlink(missing_ok=True)
        shutil.rmtree(run_dir / "raw", ignore_errors=True)
        taken = look_for_earlier(plan, self.out)
        taken.begin(run_dir)
        taken.show(progress)
        return Retake(self.out, taken.found)

"""`bench plan --diff`: what a spec's plan is compared with, and what `bench run` would do about the difference."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchbrief.cli.terminal import fail
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.progress.earlier_results import day, taken_from

if TYPE_CHECKING:
    from benchbrief.compiler.planning.plan_diff import PlanDiff
    from benchbrief.model.plan import Cell, Plan
    from benchbrief.results.runs.reusable_results import Reuse

LAST = "last"
_GIT = "git:"


@dataclass(frozen=True)
class Older:
    """A plan to compare with: `text` for people, `document` for `--json`."""

    plan: Plan
    text: str
    document: dict[str, object]


def older_plan(spec: Path, against: str, newer: Plan, out: Path) -> Older:
    """Raises RunnerError, or Stop when the spec of a revision does not check."""
    if against.startswith(_GIT):
        return _of_revision(spec, against.removeprefix(_GIT), newer)
    from benchbrief.results.runs.find_runs import find_run
    from benchbrief.results.store_errors import ResultsError

    if against == LAST:
        return _of_run(_last_of(newer, out))
    try:
        return _of_run(find_run(out, against))
    except ResultsError:
        if not _is_revision(spec, against):
            raise
        hint = f"as a git revision, say it so: --diff git:{against}"
        raise ResultsError(f"no run {against} in {out}", hint) from None


def _is_revision(spec: Path, text: str) -> bool:
    from benchbrief.comparing.git_files import GitFiles
    from benchbrief.runners.errors import RunnerError

    try:
        GitFiles.at(text, spec)
    except RunnerError:
        return False
    return True


def _of_run(run_dir: Path) -> Older:
    from benchbrief.results.runs.find_runs import run_state, started_at
    from benchbrief.runners.journal.run_folder import load_plan

    plan, state, date = load_plan(run_dir), run_state(run_dir), day(started_at(run_dir))
    profile = f", profile {plan.spec.profile}" if plan.spec.profile else ""
    document: dict[str, object] = {"run": run_dir.name, "directory": str(run_dir), "date": date, "state": state}
    return Older(plan, f"run {run_dir.name} of {date} ({state}{profile})", document)


def _last_of(newer: Plan, out: Path) -> Path:
    """The last run of the spec that measured; one with the same profile and parameters before any other."""
    from benchbrief.results.runs.find_runs import list_real_runs
    from benchbrief.results.store_errors import ResultsError
    from benchbrief.runners.errors import RunnerError
    from benchbrief.runners.journal.run_folder import load_plan

    found = None
    for run_dir in reversed(list_real_runs(out)):
        try:
            spec = load_plan(run_dir).spec
        except RunnerError:  # of another version
            continue
        if os.path.normpath(spec.name) == os.path.normpath(newer.spec.name):
            if (spec.profile, spec.params) == (newer.spec.profile, newer.spec.params):
                return run_dir
            found = found or run_dir
    if found is None:
        hint = "name a run (`bench status --all` lists them) or a revision: --diff git:HEAD"
        raise ResultsError(f"no run of {newer.spec.name} in {out}", hint)
    return found


def _of_revision(spec: Path, revision: str, newer: Plan) -> Older:
    from benchbrief.cli.spec_options import show_diagnostics
    from benchbrief.comparing.git_files import GitFiles
    from benchbrief.compiler.compile import check

    files = GitFiles.at(revision, spec)
    there = files.earlier_name(spec)
    if there is None:
        hint = "name a revision that has it; a file that was renamed is found once git knows it: `git add`"
        raise fail(f"{revision} has no {spec}", hint, ExitCode.USAGE)
    checked = check(there, profile=newer.spec.profile, params=newer.spec.params, files=files)
    if checked.plan is None:
        show_diagnostics(checked.diagnostics)
        raise fail(f"{spec} of {revision} can't be compared with", "name another revision", ExitCode.SPEC_WRONG)
    document: dict[str, object] = {"revision": revision, "commit": files.commit}
    said = [] if files.commit.startswith(revision) else [files.commit[:12]]
    if there != spec:
        said.append(f"there {there}")
        document["spec"] = str(there)
    return Older(checked.plan, f"{revision} ({', '.join(said)})" if said else revision, document)


class Again(NamedTuple):
    """Cells that have not changed and are left to measure, and why; of what chooses its points while it measures, those
    that it may still ask for."""

    why: str
    cells: int
    chosen: bool

    @property
    def sentence(self) -> str:
        one = self.cells == 1
        if self.chosen:
            cells = f"up to {self.cells:,} unchanged {'point' if one else 'points'} of a search or a ramp"
            return f"{cells} may be measured: {self.why}"
        return f"{self.cells:,} unchanged {'cell is' if one else 'cells are'} measured again: {self.why}"


@dataclass(frozen=True)
class NextRun:
    """What `bench run` would measure at most, and take from earlier runs of the folder, as far as is known without a
    look at the hosts. `seconds` is an estimate; `usual` says for how many of the cells, where a search may end early.
    """

    total: int
    measured: int
    seconds: float
    usual: str
    sources: tuple[tuple[str, str, int], ...]
    again: tuple[Again, ...] = ()

    @classmethod
    def of(cls, found: PlanDiff, out: Path) -> NextRun:
        from benchbrief.compiler.estimates.estimate import counted_cells, estimate_some
        from benchbrief.model.planned_cells import planned_cells
        from benchbrief.results.runs.reusable_results import find_reusable

        plan = found.after
        reuse = find_reusable(plan, out)
        taken = {each.cell.id for each in reuse.carried}
        likely = counted_cells(plan.cells, plan.experiments, taken) - taken
        total = planned_cells(plan)
        measured = total - len(taken) if likely else 0
        usual = f" for the {len(likely):,} that a search usually measures" if 0 < len(likely) < measured else ""
        seconds = estimate_some(plan.cells, likely)
        sources = tuple((s.run_id, s.date, s.cells) for s in taken_from(reuse.carried))
        return cls(total, measured, seconds, usual, sources, tuple(_why_again(found, reuse)) if measured else ())

    @property
    def sentence(self) -> str:
        from benchbrief.dsl.diagnostics.plain_amounts import about

        taken = [f"take {cells:,} from run {run_id} of {date}" for run_id, date, cells in self.sources]
        up_to = "up to " if self.usual else ""
        cells = f"{self.measured:,} of {plural(self.total, 'cell')}"
        measured = f"measure {up_to}{cells}, {about(self.seconds)}{self.usual}"
        if not self.measured:
            measured = "measure nothing"
        return f"`bench run` would {', and '.join([measured, *taken])}"

    @property
    def reasons(self) -> list[str]:
        return [each.sentence for each in self.again]

    def as_dict(self) -> dict[str, object]:
        taken = [{"run": run_id, "date": date, "cells": cells} for run_id, date, cells in self.sources]
        again = [{"cells": each.cells, "why": each.why} for each in self.again]
        return {"measured": self.measured, "seconds": self.seconds, "taken": taken, "again": again}


_NO_RESULTS = "no earlier run has good results of every cell that is measured with it"
_UNASKED = "no earlier run has good results of those that its rule asks for next"
_TOGETHER = {
    "grouped": "the repeats of a point are taken together or not at all, and others of theirs are new or changed",
    "interleaved": "hardware measured by turns is taken together at each point, and others there are new or changed",
    "random": "an experiment in random order is taken whole or not at all, and others of its cells are new or changed",
}


def _why_again(found: PlanDiff, reuse: Reuse) -> Iterator[Again]:
    """Yield the cells that have not changed and are left to measure, by reason."""
    from benchbrief.model.planned_cells import most_of
    from benchbrief.results.runs.reusable_results import blocks

    same = {each.cell.id for each in found.cells if each.kind == "same"}
    left = {cell.id for cell in reuse.measured}
    reasons: dict[tuple[str, bool], list[Cell]] = {}
    for block in blocks(found.after):
        mine = [cell for cell in block if cell.id in same and cell.id in left]
        if not mine:
            continue
        experiments = [found.after.experiments[cell.experiment] for cell in block]
        chosen = any(experiment.promise or experiment.adaptive for experiment in experiments)
        if len(mine) == len(block):
            why = "; ".join(reuse.passed_over) or (_UNASKED if chosen else _NO_RESULTS)
        elif any(experiment.search for experiment in experiments):
            why = "a search is taken with the cells at its knee, or not at all, and some of them are new or changed"
        else:
            why = _TOGETHER[experiments[0].order]
        reasons.setdefault((why, chosen), []).extend(mine)
    taken = [each.cell for each in reuse.carried]
    for (why, chosen), cells in reasons.items():
        if count := most_of(found.after, [*taken, *cells]) - most_of(found.after, taken):
            yield Again(why, count, chosen)

"""`bench plan --diff`: what a spec's plan is compared with, and what `bench run` would do about the difference."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchbrief.earlier import day, taken_from
from benchbrief.terminal import ExitCode, fail

if TYPE_CHECKING:
    from benchbrief.compiler.plan import Plan

LAST = "last"
_GIT = "git:"


@dataclass(frozen=True)
class Older:
    """A plan to compare with: `text` for people, `told` for `--json`."""

    plan: Plan
    text: str
    told: dict[str, object]


def older_plan(spec: Path, against: str, newer: Plan, out: Path) -> Older:
    """Raises RunnerError, or Stop when the spec of a revision does not check."""
    if against.startswith(_GIT):
        return _of_revision(spec, against.removeprefix(_GIT), newer)
    from benchbrief.results.errors import ResultsError
    from benchbrief.results.runs import find_run

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
    from benchbrief.git_files import GitFiles
    from benchbrief.runners.errors import RunnerError

    try:
        GitFiles.at(text, spec)
    except RunnerError:
        return False
    return True


def _of_run(run_dir: Path) -> Older:
    from benchbrief.results.runs import run_state, started_at
    from benchbrief.runners.rundir import load_plan

    plan, state, date = load_plan(run_dir), run_state(run_dir), day(started_at(run_dir))
    profile = f", profile {plan.spec.profile}" if plan.spec.profile else ""
    told: dict[str, object] = {"run": run_dir.name, "directory": str(run_dir), "date": date, "state": state}
    return Older(plan, f"run {run_dir.name} of {date} ({state}{profile})", told)


def _last_of(newer: Plan, out: Path) -> Path:
    """The last run of the spec that measured; one with the same profile and parameters before any other."""
    from benchbrief.results.errors import ResultsError
    from benchbrief.results.runs import list_real_runs
    from benchbrief.runners.errors import RunnerError
    from benchbrief.runners.rundir import load_plan

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
    from benchbrief.compiler.compile import check
    from benchbrief.git_files import GitFiles
    from benchbrief.spec_options import show_diagnostics

    files = GitFiles.at(revision, spec)
    there = files.earlier_name(spec)
    if there is None:
        hint = "name a revision that has it; a file that was renamed is found once git knows it: `git add`"
        raise fail(f"{revision} has no {spec}", hint, ExitCode.USAGE)
    checked = check(there, profile=newer.spec.profile, params=newer.spec.params, files=files)
    if checked.plan is None:
        show_diagnostics(checked.diagnostics)
        raise fail(f"{spec} of {revision} can't be compared with", "name another revision", ExitCode.SPEC_WRONG)
    told: dict[str, object] = {"revision": revision, "commit": files.commit}
    said = [] if files.commit.startswith(revision) else [files.commit[:12]]
    if there != spec:
        said.append(f"there {there}")
        told["spec"] = str(there)
    return Older(checked.plan, f"{revision} ({', '.join(said)})" if said else revision, told)


@dataclass(frozen=True)
class NextRun:
    """What `bench run` would measure, and take from earlier runs of the folder, as far as can be told without a look
    at the hosts. `seconds` is an estimate."""

    total: int
    measured: int
    seconds: float
    sources: tuple[tuple[str, str, int], ...]

    @classmethod
    def of(cls, plan: Plan, out: Path) -> NextRun:
        from benchbrief.compiler.estimate import estimate_some
        from benchbrief.results.reuse import find_reusable

        reuse = find_reusable(plan, out)
        left = {cell.id for cell in reuse.measured}
        sources = taken_from(reuse.carried)
        seconds = estimate_some(plan.cells, left)
        return cls(len(plan.cells), len(left), seconds, tuple((s.run_id, s.date, s.cells) for s in sources))

    @property
    def sentence(self) -> str:
        from benchbrief.compiler.layout import duration

        taken = [f"take {cells:,} from run {run_id} of {date}" for run_id, date, cells in self.sources]
        measured = f"measure {self.measured:,} of {self.total:,} cells, about {duration(self.seconds)}"
        if not self.measured:
            measured = "measure nothing"
        return f"`bench run` would {', and '.join([measured, *taken])}"

    def as_dict(self) -> dict[str, object]:
        taken = [{"run": run_id, "date": date, "cells": cells} for run_id, date, cells in self.sources]
        return {"measured": self.measured, "seconds": self.seconds, "taken": taken}

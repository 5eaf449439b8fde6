from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from benchbrief.cli.run_options import label_of, out_option, run_name, scheduler_options, simulate_options
from benchbrief.cli.sections import SCHEDULER, SIMULATION, SectionedCommand
from benchbrief.cli.spec_options import budget_option, compile_or_stop, spec_options
from benchbrief.cli.terminal import Stop, fail, json_text, show, show_json, show_json_text, show_painted, use_colour
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.progress.earlier_results import day, fits_after, taken_from

if TYPE_CHECKING:
    from benchbrief.compiler.estimates.learned import History
    from benchbrief.compiler.planning.plan_diff import PlanDiff
    from benchbrief.model.events import Simulated
    from benchbrief.model.plan import Cell, Plan
    from benchbrief.results.runs.reusable_results import Reuse
    from benchbrief.runners.fleet.scheduler import LaneNeeds
    from benchbrief.runners.fleet.submitted_run import JobSurvey

LAST = "last"


@click.command(
    cls=SectionedCommand,
    sections={
        "Differences": ("--diff", "--exit-code"),
        "Lanes and schedulers": ("--into", *SCHEDULER),
        "Simulated hosts, with --into": SIMULATION,
    },
    epilog="""
\b
Examples:
  bench plan brief.bench --profile smoke
  bench plan brief.bench --diff git:HEAD~1     what changed since then
  bench plan brief.bench --into nightly        make a run, and begin nothing
  bench plan brief.bench --on slurm            the jobs that Slurm would get
  bench plan brief.bench --json | jq '.cells | length'

docs/reference/journal.md says what --json prints.
""",
)
@click.argument("spec", type=click.Path(path_type=Path), required=False, metavar="SPEC")
@spec_options
@click.option(
    "--diff",
    "against",
    is_flag=False,
    flag_value=LAST,
    metavar="[RUN|git:REV]",
    help="Compare with the last run, RUN or a revision.",
)
@click.option("--exit-code", "by_code", is_flag=True, help="End with code 1 when anything differs.")
@click.option("--history/--no-history", default=True, help="Estimate by the times that earlier runs took.")
@budget_option
@out_option
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Make FOLDER a run of this plan, for `bench lane`.",
)
@simulate_options
@scheduler_options
@click.option("--json", "as_json", is_flag=True, help="Print the plan, or the difference, as JSON.")
def command(
    spec: Path | None,
    profile: str | None,
    params: dict[str, str],
    against: str | None,
    by_code: bool,
    history: bool,
    budget: float | None,
    out: Path,
    into: Path | None,
    simulated: Simulated | None,
    scheduler: str | None,
    job_options: tuple[str, ...],
    as_json: bool,
) -> None:
    """Show what SPEC would run: the cells, hosts, order and time. Runs nothing."""
    from benchbrief.compiler.estimates.advice import advice, hidden_loads
    from benchbrief.compiler.estimates.estimate import held_out_times, time_spent
    from benchbrief.compiler.estimates.factor_costs import factor_costs
    from benchbrief.compiler.estimates.learned import with_history
    from benchbrief.compiler.explain.explain_plan import describe_lanes
    from benchbrief.model.planned_cells import planned_cells

    if spec is None:
        named = against is not None and against.endswith(".bench")
        hint = f"; say it before the options: bench plan {against} --diff" if named else ""
        raise click.UsageError(f"Missing argument 'SPEC'{hint}.")
    if by_code and against is None:
        raise click.UsageError("--exit-code tells whether --diff finds anything: say --diff too")
    if into is None and simulated:
        raise click.UsageError("--simulate is for a run that is made: say --into FOLDER too")
    if into is not None and against is not None:
        raise click.UsageError("--into makes a run, and --diff compares: say one of them")
    if job_options and scheduler is None:
        raise click.UsageError("--job-option is for the jobs of a scheduler: say --on too")
    if scheduler and (into is not None or against is not None):
        raise click.UsageError("--on shows the jobs of a plan: leave out --into and --diff")
    checked = compile_or_stop(spec, profile, params, planning=True, budget_s=budget)
    plan: Plan = checked.plan
    if into is not None:
        _make_run(spec, plan, into, simulated, as_json=as_json)
        return
    if against is not None:
        _compare(spec, plan, against, out, as_json=as_json, by_code=by_code)
        return
    seen = _seen(out) if history else {}
    estimated = with_history(plan, seen)
    advised = advice(checked.model, plan, lambda changed: with_history(changed, seen).plan)
    fits = fits_after(estimated.plan, out if history else None)
    jobs = _survey(estimated.plan, scheduler, job_options) if scheduler else None
    if as_json:
        _show_plan(
            plan,
            {
                "lanes": [each._asdict() for each in describe_lanes(estimated.plan)],
                "time": {
                    **time_spent(estimated.plan, estimated.rendering_s).as_dict(),
                    "factors": [each.as_dict() for each in factor_costs(estimated.plan)],
                    "cells": planned_cells(plan),
                    "estimates": [each.as_dict() for each in estimated.sources],
                    "advice": [each.as_dict() for each in advised],
                    "budgets": [each.as_dict() for each in fits],
                    "held_out_s": {name: round(s, 3) for name, s in held_out_times(estimated.plan).items()},
                    "overlap": [each.as_dict() for each in hidden_loads(estimated.plan)],
                },
                **({"jobs": jobs_as_dict(jobs, scheduler)} if jobs and scheduler else {}),
            },
        )
        _stop_when_unfit(jobs)
        return

    from benchbrief.compiler.explain.explain_plan import explain

    colour = use_colour(sys.stdout)
    show_painted(explain(plan, width=_width(), color=colour, estimated=estimated, advised=advised, fits=fits))
    if jobs and scheduler:
        show_painted(explain_jobs(jobs, label_of(scheduler), _width(), color=colour))
    _stop_when_unfit(jobs)


def _seen(out: Path) -> History:
    """Return how long steps took in earlier runs. If there are none, the modules that read them are not imported."""
    if not out.is_dir():
        return {}
    from benchbrief.results.runs.times_taken import learned_times

    return learned_times(out)


def _survey(plan: Plan, scheduler: str, job_options: tuple[str, ...]) -> JobSurvey:
    from benchbrief.runners.fleet.submitted_run import survey_jobs

    return survey_jobs(plan, scheduler, job_options)


def _show_plan(plan: Plan, more: dict[str, object]) -> None:
    """Print a plan in the form of plan.json, followed by further fields. The writer of plan.json is used, because it is
    fast enough for thousands of cells."""
    from benchbrief.compiler.planning.plan_file import written_plan

    whole = b"".join(written_plan(plan)).decode().removesuffix("\n}")
    show_json_text(f"{whole},{json_text(more).removeprefix('{')}")


def _stop_when_unfit(jobs: JobSurvey | None) -> None:
    if jobs and any(job.problems for job in jobs.jobs):
        raise Stop(ExitCode.USAGE)


def _make_run(spec: Path, plan: Plan, into: Path, simulated: Simulated | None, *, as_json: bool) -> None:
    """Make a run without starting it, and explain how to run its lanes."""
    from benchbrief.comparing.git_files import revision_of
    from benchbrief.compiler.explain.explain_plan import describe_lanes
    from benchbrief.runners.fleet.lane_folder import write_lane_plans
    from benchbrief.runners.journal.run_folder import create_run
    from benchbrief.runners.world.world_choice import world_for

    if not plan.cells:
        raise fail(f"{spec} has no cell to run", "add an experiment to it", ExitCode.SPEC_WRONG)
    world_for(simulated).refuse(plan)
    files = {name: Path(name).read_bytes() for name in plan.spec.files}
    revision = revision_of(spec, map(Path, files))
    run_dir = create_run(into.parent, plan, files, simulated=simulated, revision=revision, into=into)
    write_lane_plans(run_dir, plan)
    lanes = describe_lanes(plan)
    if as_json:
        show_json({"run": run_dir.name, "directory": str(run_dir), "lanes": [each._asdict() for each in lanes]})
        return
    show(f"made {run_dir}: {plural(len(plan.cells), 'cell')} in {plural(len(lanes), 'lane')}")
    show(f"run each lane with: bench lane {run_name(run_dir)} N  (N from 1 to {len(lanes)})")
    show(f"then make one run of them with: bench merge {run_name(run_dir)}")


def _compare(spec: Path, plan: Plan, against: str, out: Path, *, as_json: bool, by_code: bool) -> None:
    from benchbrief.compiler.explain.explain_diff import as_dict, explain_diff
    from benchbrief.compiler.planning.plan_diff import diff

    older = older_plan(spec, against, plan, out)
    found = diff(older.plan, plan)
    run = NextRun.of(found, out)
    if as_json:
        document = {"spec": plan.spec.name, "against": older.document, **as_dict(found), "run": run.as_dict()}
        show_json(document)
    else:
        colour = use_colour(sys.stdout)
        show_painted(explain_diff(found, older.text, [run.sentence, *run.reasons], width=_width(), color=colour))
    if by_code and found.differs:
        raise Stop(ExitCode.SPEC_WRONG)


def _width() -> int:
    return shutil.get_terminal_size((100, 24)).columns


# --- what --diff compares with, and what a run would do about it ---

_GIT = "git:"


@dataclass(frozen=True)
class Older:
    """A plan to compare with. `text` describes it for people, and `document` describes it for `--json`."""

    plan: Plan
    text: str
    document: dict[str, object]


def older_plan(spec: Path, against: str, newer: Plan, out: Path) -> Older:
    """Return the plan to compare with. Raises RunnerError, or Stop if the spec of a revision has errors."""
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
    """Return the spec's last measured run, preferably one with the same profile and parameters."""
    from benchbrief.results.runs.find_runs import list_real_runs
    from benchbrief.results.store_errors import ResultsError
    from benchbrief.runners.errors import RunnerError
    from benchbrief.runners.journal.run_folder import load_plan

    found = None
    for run_dir in reversed(list_real_runs(out)):
        try:
            spec = load_plan(run_dir).spec
        except RunnerError:  # a run of another version
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


class StillMeasured(NamedTuple):
    """Cells that have not changed but are measured anyway, and the reason. `chosen` means that a search or an adaptive
    ramp may still ask for them."""

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
    """The most work that `bench run` would do: the cells to measure, and the results that it would take from earlier
    runs. The hosts are not checked.

    `seconds` is an estimate. If a search may end early, `usual` says how many of its cells are counted. Otherwise, it
    is "".
    """

    total: int
    measured: int
    seconds: float
    usual: str
    sources: tuple[tuple[str, str, int], ...]
    again: tuple[StillMeasured, ...] = ()

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
    "interleaved": "what is measured by turns is taken together at each point, and others there are new or changed",
    "random": "an experiment in random order is taken whole or not at all, and others of its cells are new or changed",
}


def _why_again(found: PlanDiff, reuse: Reuse) -> Iterator[StillMeasured]:
    """Yield the cells that have not changed but are measured anyway, grouped by reason."""
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
            yield StillMeasured(why, count, chosen)


# --- the jobs of a plan, and what its scheduler has ---

_MOST_JOBS = 12
"""The most jobs to list. Further jobs are only counted, except those with problems or cautions."""


def explain_jobs(found: JobSurvey, label: str, width: int, *, color: bool) -> str:
    """Describe the jobs of a plan, in lines of at most `width` columns. A longer word makes a longer line."""
    from benchbrief.compiler.explain.plain_text import Page
    from benchbrief.dsl.diagnostics.plain_amounts import about, duration, plural
    from benchbrief.runners.fleet.submitted_run import merge_remarks

    page = Page(max(40, width), color)
    page.heading(f"Jobs on {label}")
    page.table(
        (
            (
                str(job.needs.lane.number),
                plural(len(job.needs.hosts), "node"),
                about(job.needs.seconds),
                duration(job.limit_s) if job.limit_s is not None else "none",
                " ".join(job.asks),
            )
            for job in found.jobs[:_MOST_JOBS]
        ),
        ("lane", "nodes", "time", "limit", "asks for"),
    )
    if len(found.jobs) > _MOST_JOBS:
        page.paragraph(f"and {len(found.jobs) - _MOST_JOBS} more, which `bench plan --json` has")
    page.heading(f"{label} has")
    page.table(
        (
            (
                pool.name,
                str(pool.nodes),
                str(pool.usable),
                str(pool.idle),
                duration(pool.limit_s) if pool.limit_s is not None else "none",
                ", ".join(f"{feature} on {count}" for feature, count in pool.has.items()),
            )
            for pool in found.pools
        ),
        ("partition", "nodes", "usable", "idle", "limit", "features"),
        right=(1, 2, 3),
    )
    for text in merge_remarks(found.jobs, "problems"):
        page.change("-", text)
    for text in merge_remarks(found.jobs, "cautions"):
        page.change("~", text)
    if any(job.problems for job in found.jobs):
        page.paragraph("`bench run --on` refuses this plan")
    return page.text()


def jobs_as_dict(found: JobSurvey, scheduler: str) -> dict[str, Any]:
    return {
        "scheduler": scheduler,
        "lanes": [
            {
                "lane": job.needs.lane.number,
                "nodes": len(job.needs.hosts),
                "hosts": [_host(job.needs, at) for at in range(len(job.needs.hosts))],
                "seconds": job.needs.seconds,
                "longest_cell_s": job.needs.longest_s,
                **{name: getattr(job, name) for name in ("limit_s", "asks", "problems", "cautions")},
            }
            for job in found.jobs
        ],
        "pools": [
            {name.replace("has", "features"): value for name, value in vars(pool).items()} for pool in found.pools
        ],
    }


def _host(needs: LaneNeeds, at: int) -> dict[str, Any]:
    host = needs.hosts[at]
    asked = {"what": host.asked.what, **dict(host.asked.options)} if host.asked else None
    return {"host": host.id, "asked": asked}

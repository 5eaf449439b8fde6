from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from benchbrief.cli.run_options import label_of, out_option, run_name, scheduler_options, simulate_options
from benchbrief.cli.sections import SCHEDULER, SIMULATION, SectionedCommand
from benchbrief.cli.spec_options import budget_option, compile_or_stop, spec_options
from benchbrief.cli.terminal import Stop, fail, json_text, show, show_json, show_json_text, show_painted, use_colour
from benchbrief.comparing.plan_comparison import LAST, NextRun, older_plan
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.progress.earlier_results import fits_after
from benchbrief.progress.planned_jobs import explain_jobs, jobs_as_dict

if TYPE_CHECKING:
    from benchbrief.model.events import Simulated
    from benchbrief.model.plan import Plan
    from benchbrief.runners.fleet.submitted_run import JobSurvey


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
    from benchbrief.compiler.estimates.estimate import time_spent
    from benchbrief.compiler.estimates.learned import with_history
    from benchbrief.compiler.explain.explain_plan import describe_lanes
    from benchbrief.model.planned_cells import planned_cells
    from benchbrief.results.runs.times_taken import learned_times
    from benchbrief.runners.fleet.submitted_run import survey_jobs

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
    seen = learned_times(out) if history else {}
    estimated = with_history(plan, seen)
    advised = advice(checked.model, plan, lambda changed: with_history(changed, seen).plan)
    fits = fits_after(estimated.plan, out if history else None)
    jobs = survey_jobs(estimated.plan, scheduler, job_options) if scheduler else None
    if as_json:
        _show_plan(
            plan,
            {
                "lanes": [each._asdict() for each in describe_lanes(estimated.plan)],
                "time": {
                    **time_spent(estimated.plan, estimated.rendering_s).as_dict(),
                    "cells": planned_cells(plan),
                    "estimates": [each.as_dict() for each in estimated.sources],
                    "advice": [each.as_dict() for each in advised],
                    "budgets": [each.as_dict() for each in fits],
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


def _show_plan(plan: Plan, more: dict[str, object]) -> None:
    """Print a plan as plan.json has it, with more behind it: as cells come by the thousand, by that writer."""
    from benchbrief.compiler.planning.plan_file import written_plan

    whole = b"".join(written_plan(plan)).decode().removesuffix("\n}")
    show_json_text(f"{whole},{json_text(more).removeprefix('{')}")


def _stop_when_unfit(jobs: JobSurvey | None) -> None:
    if jobs and any(job.problems for job in jobs.jobs):
        raise Stop(ExitCode.USAGE)


def _make_run(spec: Path, plan: Plan, into: Path, simulated: Simulated | None, *, as_json: bool) -> None:
    """Make a run that has not begun, and say how its lanes are run."""
    from benchbrief.comparing.git_files import revision_of
    from benchbrief.compiler.explain.explain_plan import describe_lanes
    from benchbrief.runners.fleet.lane_folder import write_lane_plans
    from benchbrief.runners.journal.run_folder import create_run
    from benchbrief.runners.world_choice import world_for

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

"""How a run is given to a scheduler, and how that ends."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchbrief.progress.run_progress import Progress
from benchbrief.running.run_output import Ending, note_simulation, report_as_asked


def submit_and_report(
    run_dir: Path,
    scheduler: str,
    options: Sequence[str],
    progress: Progress,
    asked: Ending,
    warned: Iterable[str] = (),
) -> None:
    """Give a new run to a scheduler, and follow it as `run_and_report` does. A run that is refused is not kept."""
    from benchbrief.runners.errors import RunnerError
    from benchbrief.runners.fleet.lane_plans import write_lane_plans
    from benchbrief.runners.fleet.submitted_run import SubmittedRun, keep_submitted, submitted_run
    from benchbrief.runners.fleet.survey_jobs import merge_remarks, refuse_unfit, survey_jobs
    from benchbrief.runners.journal.run_folder import load_plan

    try:
        plan = load_plan(run_dir)
        jobs = survey_jobs(plan, scheduler, options).jobs
        refuse_unfit(jobs)
        write_lane_plans(run_dir, plan)
        for text in merge_remarks(jobs, "cautions"):
            progress.warn(text)
        keep_submitted(run_dir, SubmittedRun(scheduler=scheduler, options=tuple(options), wait=asked["wait"]))
        follow_and_report(run_dir, progress, asked, warned)
    except RunnerError:
        submitted = submitted_run(run_dir)
        if submitted is None or not submitted.jobs:  # nothing was begun
            shutil.rmtree(run_dir, ignore_errors=True)
        raise


def follow_and_report(run_dir: Path, progress: Progress, asked: Ending, warned: Iterable[str] = ()) -> None:
    """Go on with a run whose lanes are jobs of a scheduler, tell how it ended, and stop with its exit code."""
    from benchbrief.pipeline import run_on_scheduler

    note_simulation(run_dir, progress)
    finished = run_on_scheduler(run_dir, progress, report=not asked["no_report"])
    report_as_asked(finished, asked, warned)

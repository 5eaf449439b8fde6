"""Runs the lanes of a run separately: submits them to a scheduler, follows them, and merges them."""

from __future__ import annotations

import hashlib
import shlex
import shutil
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from benchbrief.cli.run_options import label_of, run_name
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.dsl.diagnostics.plain_amounts import plural
from benchbrief.model.plan import Plan
from benchbrief.progress.finished_run import Finished
from benchbrief.progress.follow_run import LaneTails
from benchbrief.progress.run_progress import Progress
from benchbrief.progress.run_view import known_by_estimate
from benchbrief.results.ingest.run_evidence import read_evidence
from benchbrief.results.runs.find_runs import run_state
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.fleet.drive_lanes import LaneDriver
from benchbrief.runners.fleet.merge_lanes import Merged, merge_lanes
from benchbrief.runners.fleet.scheduler import SchedulerSilent
from benchbrief.runners.fleet.submitted_run import is_driven, submitted_run
from benchbrief.runners.journal.journal_file import is_being_written
from benchbrief.runners.journal.run_folder import PLAN, load_plan
from benchbrief.running.run_output import EndingOptions, note_simulation, report_as_asked
from benchbrief.running.stop_signals import stop_on_signals

_NAMED = 3
"""The most incomplete lanes to show a command for."""


def merge(plan: Plan, run_dir: Path, folders: Sequence[Path], progress: Progress) -> Finished:
    """Merge the lanes in the run's folder and those in `folders`. Raises RunnerError."""
    digest = hashlib.sha256((run_dir / PLAN).read_bytes()).hexdigest()
    with progress.doing("merging the lanes"):
        merged = merge_lanes(run_dir, plan, digest, folders)
    evidence = read_evidence(run_dir, plan, merged.record)
    return Finished(
        run_dir,
        merged.end.status,
        merged.end.message,
        {each.cell.id: each.reason or "" for each in evidence.verdicts if each.status == "failed"},
        {each.cell.id: each.reason or "" for each in evidence.verdicts if each.no_room == "point"},
        simulated=evidence.simulated is not None,
        plan=plan,
        evidence=evidence,
        next_steps=_next(run_dir, merged),
    )


def merge_so_far(run_dir: Path) -> None:
    """If a run's lanes are jobs of a scheduler, merge their records so far, so that answers about the run cover all
    lanes.

    Does nothing if another process is merging.
    """
    if submitted_run(run_dir) is None:
        return
    if is_driven(run_dir) or run_state(run_dir) in ("running", "interrupted"):
        digest = hashlib.sha256((run_dir / PLAN).read_bytes()).hexdigest()
        with suppress(RunnerError):  # nothing has begun, or it is merged right now
            merge_lanes(run_dir, load_plan(run_dir), digest, ())


def _next(run_dir: Path, merged: Merged) -> tuple[tuple[str, str], ...] | None:
    if not merged.missing:
        return None
    run = run_name(run_dir)
    submitted = submitted_run(run_dir)
    if submitted is not None:
        some = plural(len(merged.missing), "lane is", "lanes are")
        what = f"{some} not whole, whose jobs are those of {label_of(submitted.scheduler)}; go on with"
        return ((what, f"bench resume {run}"),)
    lanes = [
        (f"lane {lane} is not whole; go on with", _lane(run_dir, lane, merged)) for lane in merged.missing[:_NAMED]
    ]
    if more := len(merged.missing) - _NAMED:
        lanes += [(f"{more} more lanes are not whole; see them with", f"bench status {run}")] if more > 0 else []
    return (*lanes, ("then merge again with", f"bench merge {run}"))


def _lane(run_dir: Path, lane: int, merged: Merged) -> str:
    """Return the command that runs a lane, and the folder where the lane was started."""
    results = merged.lanes.get(lane)
    within = results is None or results.folder.resolve().is_relative_to(run_dir.resolve())
    into = "" if results is None or within else f" --into {shlex.quote(str(results.folder))}"
    return f"bench lane {run_name(run_dir)} {lane}{into}"


def submit_and_report(
    run_dir: Path,
    scheduler: str,
    options: Sequence[str],
    progress: Progress,
    asked: EndingOptions,
    warned: Iterable[str] = (),
) -> None:
    """Submit a new run to a scheduler, and follow it as `run_and_report` does. If the scheduler refuses the run, the
    run is deleted."""
    from benchbrief.runners.errors import RunnerError
    from benchbrief.runners.fleet.lane_folder import write_lane_plans
    from benchbrief.runners.fleet.submitted_run import (
        SubmittedRun,
        keep_submitted,
        merge_remarks,
        refuse_unfit,
        submitted_run,
        survey_jobs,
    )
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


def follow_and_report(run_dir: Path, progress: Progress, asked: EndingOptions, warned: Iterable[str] = ()) -> None:
    """Continue a run whose lanes are jobs of a scheduler, report how it ended, and stop with its exit code."""
    from benchbrief.pipeline import run_on_scheduler

    note_simulation(run_dir, progress)
    finished = run_on_scheduler(run_dir, progress, report=not asked["no_report"])
    report_as_asked(finished, asked, warned)


_LOOK_S, _RARELY_S, _SHARE = 0.2, 2.0, 4.0
"""The wait between two looks at all lanes: the shortest and the longest wait in seconds, and the usual wait as a
multiple of the time that the last look took."""
_MERGED_ELSEWHERE_S = 30.0
"""How many seconds another `bench status` may take to finish merging. A process that writes for longer must be a
controller."""


class NothingBegun(RunnerError):
    """Raised when no lane of a run has started, and no remaining job can start one."""

    code = "nothing_begun"
    ends_with = ExitCode.INTERRUPTED


def run_submitted(plan: Plan, run_dir: Path, progress: Progress) -> Finished:
    """Run all lanes that are not good yet, then merge them. The caller holds `driving_alone`. Raises RunnerError.

    A signal cancels the jobs. If this process is killed, the jobs continue.
    """
    tails, driver = LaneTails(run_dir), LaneDriver(run_dir, plan, progress.note)
    with (
        stop_on_signals(progress, run_dir) as stopping,
        progress.of(plan, known_by_estimate(plan, run_dir), tails.readings),
    ):
        for record in tails.new():
            progress.catch_up(record)
        is_cancelled = False
        while True:
            if stopping.is_set() and not is_cancelled:
                is_cancelled = _cancelled(driver)
            began = time.monotonic()
            settled = driver.look(stopping=stopping.is_set())
            for record in tails.new():
                progress.record(record)
            if settled and (is_cancelled or not stopping.is_set()):
                break
            time.sleep(min(_RARELY_S, max(_LOOK_S, _SHARE * (time.monotonic() - began))))
    if not tails.ends:
        why = "; ".join(f"lane {lane}: {text}" for lane, text in driver.given_up.items())
        raise NothingBegun(
            f"no lane of {run_dir.name} has begun" + (f": {why}" if why else ""),
            f"its jobs' output is in {run_dir / 'jobs'}; go on with `bench resume {run_name(run_dir)}`",
        )
    finished = _merged(plan, run_dir, progress)
    if finished.status != "interrupted":
        return replace(finished, next_steps=None)
    reasons = [
        (f"lane {lane}: {why}; what its jobs print goes to", str(run_dir / "jobs"))
        for lane, why in driver.given_up.items()
    ]
    return replace(finished, next_steps=(*reasons, ("go on with", f"bench resume {run_name(run_dir)}")))


def _cancelled(driver: LaneDriver) -> bool:
    try:
        driver.cancel()
    except SchedulerSilent:
        return False
    return True


def _merged(plan: Plan, run_dir: Path, progress: Progress) -> Finished:
    began = time.monotonic()
    while is_being_written(run_dir) and time.monotonic() - began < _MERGED_ELSEWHERE_S:
        time.sleep(_LOOK_S)
    return merge(plan, run_dir, (), progress)

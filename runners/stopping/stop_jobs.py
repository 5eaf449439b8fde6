"""Ending a run whose lanes are jobs of a scheduler: its jobs are cancelled, then its lanes' hosts are cleaned up."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from benchbrief.runners.errors import RunnerError
from benchbrief.runners.fleet.lane_results import folders_in
from benchbrief.runners.fleet.scheduler import scheduler_named
from benchbrief.runners.fleet.submitted_run import is_driven, name_of_jobs, submitted_run
from benchbrief.runners.journal.journal_file import is_being_written
from benchbrief.runners.journal.run_identity import original_of
from benchbrief.runners.stopping.stop_run import Found, Stopped, stop_run

_LOOK_EVERY_S = 0.5
_SAY_EVERY_S = 10.0


def stop_any_run(run_dir: Path, say: Callable[[str], None]) -> Stopped:
    """End a run of one controller, or of a scheduler's jobs. Raises RunnerError."""
    return stop_run(run_dir, say) if submitted_run(run_dir) is None else _stop_jobs(run_dir, say)


def _stop_jobs(run_dir: Path, say: Callable[[str], None]) -> Stopped:
    if original := original_of(run_dir):
        return Stopped("ended", copied_from=original)
    submitted = submitted_run(run_dir)
    scheduler, name = scheduler_named(submitted.scheduler if submitted else ""), name_of_jobs(run_dir)
    live = [job for job in scheduler.jobs(name) if job.is_live]
    if live:
        scheduler.cancel(name)
        say(f"cancelled {len(live)} jobs: {', '.join(job.id for job in live)}")
    began = said = time.monotonic()
    while (left := [job for job in scheduler.jobs(name) if job.is_live]) or is_driven(run_dir):
        time.sleep(_LOOK_EVERY_S)
        if time.monotonic() - said > _SAY_EVERY_S:
            said = time.monotonic()
            what = ", ".join(f"job {job.id} ({job.described})" for job in left) or "its controller"
            say(f"waiting for {what} since {said - began:.0f} s")
        if left:  # a controller may have submitted one meanwhile
            scheduler.cancel(name)
    return _together([_clean(folder, say) for folder in folders_in(run_dir)], was_live=bool(live))


def _clean(folder: Path, say: Callable[[str], None]) -> Stopped:
    """End what a lane has left. Its process may outlive its job for a moment."""
    began = time.monotonic()
    while is_being_written(folder):
        time.sleep(_LOOK_EVERY_S)
        if time.monotonic() - began > _SAY_EVERY_S * 6:
            raise RunnerError(
                f"{folder} is still being written, though its job has ended",
                "a process of it goes on, on a node that its scheduler has lost; stop it there",
            )
    return stop_run(folder, say)


def _together(lanes: list[Stopped], *, was_live: bool) -> Stopped:
    found: list[Found] = []
    unclean: dict[str, Exception] = {}
    for each in lanes:
        found += each.found
        unclean |= each.unclean
    cleaned = any(each.how == "cleaned" for each in lanes)
    return Stopped("cleaned" if cleaned else "stopped" if was_live else "ended", found, unclean)

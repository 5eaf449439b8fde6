"""A run whose lanes are jobs of a scheduler: its controller submits them, shows what they do, and merges them."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from benchbrief.cli.run_names import run_name
from benchbrief.compiler.planning.plan import Plan
from benchbrief.dsl.bench_error import ExitCode
from benchbrief.progress.finished_run import Finished
from benchbrief.progress.follow_lanes import LaneTails
from benchbrief.progress.run_progress import Progress
from benchbrief.progress.run_view import known_by_estimate
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.fleet.drive_lanes import LaneDriver
from benchbrief.runners.fleet.scheduler import SchedulerSilent
from benchbrief.runners.journal.journal_file import is_being_written
from benchbrief.running.merge import merge
from benchbrief.running.stop_signals import stop_on_signals

_LOOK_S, _RARELY_S, _SHARE = 0.2, 2.0, 4.0
"""Between two looks at all lanes: so many seconds at least and at most, and so many times as long as a look took."""
_MERGED_ELSEWHERE_S = 30.0
"""So long, in seconds, `bench status` may take to merge what is there, until that is another controller's."""


class NothingBegun(RunnerError):
    """No lane of a run has begun, and no job of it will."""

    code = "nothing_begun"
    ends_with = ExitCode.INTERRUPTED


def run_submitted(plan: Plan, run_dir: Path, progress: Progress) -> Finished:
    """Have all lanes run that are not good yet, then merge them. The caller holds `driving_alone`. Raises RunnerError.

    A signal cancels the jobs; a kill leaves them to themselves.
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

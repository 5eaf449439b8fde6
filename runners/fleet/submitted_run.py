"""The file with a run's scheduler, the options for the scheduler, and the jobs that the run submitted.

The scheduler itself knows best which jobs there are. The file records which scheduler to ask, and which job wrote which
log.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from benchbrief.compiler.planning.plan_lanes import open_hosts, with_nodes
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.plan import Plan
from benchbrief.model.run_record import RunRecord
from benchbrief.runners.errors import Damaged, RunnerError
from benchbrief.runners.fleet.scheduler import (
    Given,
    NodePool,
    PlannedJob,
    SchedulerRefused,
    SchedulerSilent,
    needs_of,
    refuse_other_schedulers,
    scheduler_named,
)
from benchbrief.runners.journal.atomic_files import write_durably
from benchbrief.runners.journal.controller_clock import now
from benchbrief.runners.journal.journal_file import is_locked, read_run, take_lock
from benchbrief.runners.journal.run_folder import simulation_of
from benchbrief.runners.journal.run_identity import original_of, owner_in
from benchbrief.runners.plain_files import read_plain

SUBMITTED = "scheduler.json"
_LOCK = "scheduler.lock"
LOGS = "jobs"
"""The folder, within a run, for the output of its jobs."""


class SubmittedJob(BaseModel):
    """A job that was submitted at `at` (epoch seconds), when `finished` cells of its lane were good."""

    model_config = ConfigDict(frozen=True)
    job: str
    lane: int
    at: float
    finished: int


class SubmittedRun(BaseModel):
    """The contents of `scheduler.json`."""

    model_config = ConfigDict(frozen=True)
    scheduler: str
    options: tuple[str, ...] = ()
    wait: bool = False
    jobs: tuple[SubmittedJob, ...] = ()


def submitted_run(run_dir: Path) -> SubmittedRun | None:
    """Return a run's record of its scheduler, or None if the run has no scheduler. Raises RunnerError."""
    path = run_dir / SUBMITTED
    try:
        return SubmittedRun.model_validate_json(read_plain(path))
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise Damaged(f"{path} does not say which scheduler has the run's jobs", "put it back from a copy") from error


def keep_submitted(run_dir: Path, submitted: SubmittedRun) -> None:
    write_durably(run_dir / SUBMITTED, submitted.model_dump_json(indent=1).encode())


def name_of_jobs(run_dir: Path) -> str:
    """Return the name that all of this run's jobs have and that no other jobs have. A copy of a run has no jobs until
    the copy itself is run."""
    return f"bench-{'' if original_of(run_dir) else owner_in(run_dir)}"


@contextmanager
def driving_alone(run_dir: Path) -> Iterator[None]:
    """Keep other controllers from submitting jobs of the run during the block. Raises RunnerError if another controller
    already does so."""
    fd = os.open(run_dir / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if not take_lock(fd, run_dir / _LOCK):
            raise RunnerError(f"{run_dir} is driven by another process", f"follow it with `bench watch {run_dir}`")
        yield
    finally:
        os.close(fd)


def is_driven(run_dir: Path) -> bool:
    """Return whether a controller currently manages the run's jobs."""
    return is_locked(run_dir / _LOCK)


_WAIT_S = 300.0
_TRY_EVERY_S = 5.0


def on_its_nodes(plan: Plan, lane_dir: Path, say: Callable[[str], None]) -> tuple[Plan, j.HostsGiven | None]:
    """Return the lane's plan with the nodes of its job, and the journal record of these nodes.

    The record is None if the lane asks for no nodes, is simulated, or has no cell left to run. Raises RunnerError
    outside of a job.
    """
    wanted = open_hosts(plan)
    if not wanted or simulation_of(lane_dir):
        return plan, None
    record = read_run(lane_dir)
    if record.end is not None and len(record.finished(plan)) == len(plan.cells):
        return with_nodes(plan, record.nodes), None
    given = _given(plan, wanted, record, say)
    return with_nodes(plan, given.nodes), j.HostsGiven(at=now(), job=given.job, nodes=given.nodes)


def _given(plan: Plan, wanted: list[str], record: RunRecord, say: Callable[[str], None]) -> Given:
    asked = {host: each for host in wanted if (each := plan.hosts[host].asked) is not None}
    scheduler = scheduler_named(next(iter(asked.values())).scheduler)
    used = dict.fromkeys(host for cell in plan.cells for host in cell.locks)
    named = [plan.hosts[host].name for host in used if plan.hosts[host].asked is None]
    began = time.monotonic()
    while True:
        try:
            return scheduler.given(asked, record.nodes, named)
        except SchedulerSilent as error:
            if time.monotonic() - began > _WAIT_S:
                raise
            say(f"{error.message}; it is asked again")
            time.sleep(_TRY_EVERY_S)


_NAMED = 3


@dataclass(frozen=True)
class JobSurvey:
    """The job of each lane, and the pools from which their nodes would come."""

    jobs: Sequence[PlannedJob]
    pools: Sequence[NodePool]


def survey_jobs(plan: Plan, scheduler: str, options: Sequence[str]) -> JobSurvey:
    """Return the scheduler's survey of a plan's lanes. Raises RunnerError if the scheduler is missing or silent."""
    refuse_other_schedulers(plan, scheduler)
    return JobSurvey(*scheduler_named(scheduler).survey(needs_of(plan, scheduler, options)))


def refuse_unfit(jobs: Sequence[PlannedJob]) -> None:
    """Raise SchedulerRefused if the scheduler would refuse jobs or let them wait for ever."""
    found = merge_remarks(jobs, "problems")
    if found:
        named = "; ".join(found[:_NAMED]) + (f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else "")
        raise SchedulerRefused(named, "mend the spec or the options; `bench plan SPEC --on ...` shows all jobs")


def merge_remarks(jobs: Sequence[PlannedJob], which: Literal["problems", "cautions"]) -> list[str]:
    """Return the problems or cautions of jobs, each one once and preceded by the names of the lanes concerned."""
    lanes: dict[str, list[int]] = {}
    for job in jobs:
        for text in getattr(job, which):
            lanes.setdefault(text, []).append(job.needs.lane.number)
    return [f"{_lanes(numbers, len(jobs))}: {text}" for text, numbers in lanes.items()]


def _lanes(numbers: Sequence[int], of: int) -> str:
    if len(numbers) == 1:
        return f"lane {numbers[0]}"
    if len(numbers) == of:
        return f"all {of} lanes"
    more = len(numbers) - _NAMED
    named = ", ".join(map(str, numbers[:_NAMED]))
    return f"lanes {named} and {more} more" if more > 0 else f"lanes {named}"

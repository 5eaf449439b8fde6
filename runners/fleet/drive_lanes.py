"""The controller of a run whose lanes are jobs of a scheduler: it submits, looks, and submits again.

It keeps nothing that matters: what a lane has measured is in the lane's folder, and which jobs there are is known to
the scheduler. So it may be killed at any time, and another one goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchbrief.compiler.lanes.plan_lanes import PlanLane, lanes_of
from benchbrief.compiler.planning.plan import Plan
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.fleet.lane_folder import usual_folder
from benchbrief.runners.fleet.scheduler import (
    Job,
    LaneJob,
    LaneNeeds,
    Scheduler,
    SchedulerSilent,
    needs_of,
    scheduler_named,
)
from benchbrief.runners.fleet.submitted_run import (
    LOGS,
    SubmittedJob,
    SubmittedRun,
    keep_submitted,
    name_of_jobs,
    submitted_run,
)
from benchbrief.runners.journal import events as j
from benchbrief.runners.journal.journal_file import JOURNAL, is_being_written, last_record
from benchbrief.runners.journal.run_record import read_run

_FRUITLESS = 3
"""After so many jobs of a lane in a row that finished no cell, no further one is submitted."""
_OFTEN_S, _RARELY_S = 0.5, 10.0
"""The scheduler is asked that often right after a change, and then ever more rarely."""
_LOG_BYTES = 4096


@dataclass
class LaneDriver:
    """Looks after the jobs of one run. `say` gets what a user should know. The caller holds `driving_alone`."""

    run_dir: Path
    plan: Plan
    say: Callable[[str], None]
    _scheduler: Scheduler = field(init=False)
    _submitted: SubmittedRun = field(init=False)
    _needs: Mapping[int, LaneNeeds] = field(init=False)
    _jobs: dict[int, Job] = field(default_factory=dict)
    """The last job of each lane, as the scheduler told it."""
    _given_up: dict[int, str] = field(default_factory=dict)
    _tried: dict[int, int] = field(default_factory=dict)
    """How many jobs of a lane this controller has submitted in a row without a further good cell."""
    _own: set[str] = field(default_factory=set)
    """The jobs that this controller has submitted, or found alive."""
    _best: dict[int, int] = field(default_factory=dict)
    _told: dict[int, str] = field(default_factory=dict)
    _silent: bool = False
    _pause_s: float = _OFTEN_S
    _asked_at: float = float("-inf")
    _seen: frozenset[tuple[str, str]] = frozenset()
    _ended_lanes: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        submitted = submitted_run(self.run_dir)
        if submitted is None:
            raise RunnerError(f"{self.run_dir} was not given to a scheduler", "see `bench run --on`")
        self._submitted = submitted
        self._scheduler = scheduler_named(submitted.scheduler)
        needs = needs_of(self.plan, submitted.scheduler, submitted.options)
        self._needs = {each.lane.number: each for each in needs}

    @property
    def given_up(self) -> Mapping[int, str]:
        """Return the lanes that get no further job, each with the reason."""
        return self._given_up

    def look(self, *, stopping: bool = False) -> bool:
        """Look at the jobs, and submit what is missing. Returns whether all is settled: no job is live, and none is to
        be submitted. When `stopping`, nothing is submitted any more.

        Raises SchedulerRefused.
        """
        if not self._is_due():
            return False
        try:
            self._ask()
            settled = [self._settle(lane, stopping=stopping) for lane in lanes_of(self.plan)]
        except SchedulerSilent as error:
            if not self._silent:
                self.say(f"{error.message}; its jobs go on, and it is asked again")
            self._silent = True
            self._pause_s = _RARELY_S if self._pause_s > _OFTEN_S * 4 else self._pause_s * 2
            return False
        if self._silent:
            self.say("the scheduler answers again")
        self._silent = False
        return all(settled)

    def cancel(self) -> None:
        """Cancel all jobs of the run. Raises SchedulerSilent."""
        self._scheduler.cancel(name_of_jobs(self.run_dir))
        self._asked_at, self._pause_s = float("-inf"), _OFTEN_S

    def _is_due(self) -> bool:
        """Return whether the scheduler is to be asked: a pause is over, or a lane has ended since it was asked."""
        ended = frozenset(
            lane.number
            for lane in lanes_of(self.plan)
            if isinstance(last_record(self._folder(lane) / JOURNAL), j.RunEnded)
        )
        if ended != self._ended_lanes:
            self._ended_lanes, self._pause_s = ended, _OFTEN_S
            return True
        return time.monotonic() - self._asked_at >= self._pause_s

    def _ask(self) -> None:
        self._asked_at = time.monotonic()
        found = self._scheduler.jobs(name_of_jobs(self.run_dir))
        latest: dict[int, Job] = {}
        for job in sorted(found, key=lambda job: (job.is_live, _number(job.id))):
            latest[job.lane] = job
        self._jobs = latest
        seen = frozenset((job.id, job.told) for job in found)
        self._pause_s = _OFTEN_S if seen != self._seen else min(_RARELY_S, self._pause_s * 1.5)
        self._seen = seen
        for job in latest.values():
            if job.is_live:
                self._own.add(job.id)
            if job.stuck and job.state == "waiting":
                self._scheduler.release(job.id)
            if job.is_live and self._told.get(job.lane) != f"{job.id} {job.state}":
                self._told[job.lane] = f"{job.id} {job.state}"
                where = f" on {job.node}" if job.state == "running" and job.node else ""
                self.say(f"lane {job.lane}: job {job.id} is {job.told}{where}")

    def _settle(self, lane: PlanLane, *, stopping: bool) -> bool:
        job = self._jobs.get(lane.number)
        if (job is not None and job.is_live) or is_being_written(self._folder(lane)):
            return False
        whole, finished = self._progress(lane)
        if whole and (lane.number in self._best or finished == len(lane.cells)):
            return True  # cells that failed are tried again by a new controller alone
        if stopping or lane.number in self._given_up:
            return True
        if finished > self._best.get(lane.number, -1):
            self._tried[lane.number] = 0
        self._best[lane.number] = finished
        if job is not None and job.cancelled and job.id in self._own:
            return self._give_up(lane.number, job, "was cancelled")
        if self._tried.get(lane.number, 0) >= _FRUITLESS:
            return self._give_up(lane.number, job, f"is the last of {_FRUITLESS} that finished no cell")
        self._submit(lane, finished)
        return False

    def _progress(self, lane: PlanLane) -> tuple[bool, int]:
        """Return whether each cell of a lane has its verdict, and how many are good."""
        folder = self._folder(lane)
        record = read_run(folder)
        whole = record.end is not None and record.end.status != "interrupted"
        only = self.plan.model_copy(update={"cells": lane.cells})
        return whole, len(record.finished(only))

    def _give_up(self, lane: int, job: Job | None, why: str) -> bool:
        said = _last_error(self.run_dir / LOGS / f"lane-{lane}.log")
        name = f"job {job.id} ({job.told})" if job is not None else "its job"
        self._given_up[lane] = f"{name} {why}" + (f"; it says: {said}" if said else "")
        self.say(f"lane {lane}: {self._given_up[lane]}")
        return True

    def _submit(self, lane: PlanLane, finished: int) -> None:
        log = self.run_dir.resolve() / LOGS / f"lane-{lane.number}.log"
        log.parent.mkdir(exist_ok=True)
        job = self._scheduler.submit(
            LaneJob(
                name=name_of_jobs(self.run_dir),
                run_dir=self.run_dir.resolve(),
                needs=self._needs[lane.number],
                lane_dir=self._folder(lane).resolve(),
                log=log,
                wait=self._submitted.wait,
            )
        )
        self._own.add(job)
        self._tried[lane.number] = self._tried.get(lane.number, 0) + 1
        jobs = (*self._submitted.jobs, SubmittedJob(job=job, lane=lane.number, at=time.time(), finished=finished))
        self._submitted = self._submitted.model_copy(update={"jobs": jobs})
        keep_submitted(self.run_dir, self._submitted)
        self._pause_s = _OFTEN_S

    def _folder(self, lane: PlanLane) -> Path:
        return usual_folder(self.run_dir, lane.number)


def _number(job: str) -> tuple[int, str]:
    return (int(job) if job.isdecimal() else 0, job)


def _last_error(log: Path) -> str:
    """Return the last error that a job printed, in one line."""
    with suppress(OSError), log.open("rb") as file:
        file.seek(max(0, file.seek(0, 2) - _LOG_BYTES))
        lines = file.read().decode(errors="replace").splitlines()
        return next((line.partition("error: ")[2].strip() for line in reversed(lines) if "error: " in line), "")
    return ""

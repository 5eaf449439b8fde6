"""The controller of a run whose lanes are a scheduler's jobs. It submits jobs, watches them, and submits more.

The controller keeps no state that matters: what a lane has measured is in the lane's folder, and the scheduler knows
which jobs there are. The controller may therefore be killed at any time, and another one continues.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path

from benchbrief.compiler.planning.plan_lanes import PlanLane
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model import events as j
from benchbrief.model.plan import Plan
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.fleet.lane_folder import usual_folders
from benchbrief.runners.fleet.scheduler import (
    LaneJob,
    LaneNeeds,
    ScheduledJob,
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
from benchbrief.runners.journal.journal_file import JOURNAL, is_being_written, last_record, read_run
from benchbrief.runners.journal.run_identity import run_name, settle

_FRUITLESS = 3
"""If this many consecutive jobs of a lane finish no cell, no more jobs are submitted for it."""
_OFTEN_S, _RARELY_S = 0.5, 10.0
"""The shortest and the longest pause between two queries of the scheduler, in seconds. The pause is shortest after a
change, and grows while nothing changes."""
_LOG_BYTES = 4096


@dataclass
class LaneDriver:
    """Manages the jobs of one run. `say` shows messages to the user. The caller must hold `driving_alone`."""

    run_dir: Path
    plan: Plan
    say: Callable[[str], None]
    _scheduler: Scheduler = field(init=False)
    _submitted: SubmittedRun = field(init=False)
    _needs: Mapping[int, LaneNeeds] = field(init=False)
    _jobs: dict[int, ScheduledJob] = field(default_factory=dict)
    """The last job of each lane, as the scheduler shows it."""
    _given_up: dict[int, str] = field(default_factory=dict)
    _tried: dict[int, int] = field(default_factory=dict)
    """How many jobs of each lane this controller has submitted since the lane's last new good cell."""
    _own: set[str] = field(default_factory=set)
    """The jobs that this controller has submitted, or has found running."""
    _best: dict[int, int] = field(default_factory=dict)
    _said: dict[int, tuple[str, set[str]]] = field(default_factory=dict)
    """The last message to the user about each lane: its job, the job's state, and why the job waits."""
    _over: set[int] = field(default_factory=set)
    """The lanes that are done, which means that each of their cells has its verdict."""
    _silent: bool = False
    _pause_s: float = _OFTEN_S
    _asked_at: float = float("-inf")
    _seen: frozenset[tuple[str, str]] = frozenset()
    _sizes: dict[int, int] = field(default_factory=dict)
    """How many bytes each lane's journal had when it was last searched for the record of the lane's end."""
    _lanes: Sequence[PlanLane] = field(init=False)
    _folders: Mapping[int, Path] = field(init=False)

    def __post_init__(self) -> None:
        submitted = submitted_run(self.run_dir)
        if submitted is None:
            raise RunnerError(f"{self.run_dir} was not given to a scheduler", "see `bench run --on`")
        run_name(self.run_dir)  # a copy gets an identity of its own, so that the jobs of its original are not its own
        settle(self.run_dir)
        self._submitted = submitted
        self._scheduler = scheduler_named(submitted.scheduler)
        needs = needs_of(self.plan, submitted.scheduler, submitted.options)
        self._needs = {each.lane.number: each for each in needs}
        self._lanes = [each.lane for each in needs]
        self._folders = usual_folders(self.run_dir, self._needs)

    @property
    def given_up(self) -> Mapping[int, str]:
        """Return the lanes for which no more jobs are submitted, each with the reason."""
        return self._given_up

    def look(self, *, stopping: bool = False) -> bool:
        """Look at the jobs, and submit missing ones. Returns whether the run is settled, which means that no job is
        alive or still to come.

        If `stopping`, submits nothing. Raises SchedulerRefused.
        """
        if not self._is_due():
            return False
        try:
            self._ask()
            settled = [self._settle(lane, stopping=stopping) for lane in self._lanes]
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
        """Return whether to query the scheduler now. That is so if the pause is over, or if a lane has ended since the
        last query."""
        ended = [lane for lane in self._lanes if lane.number not in self._over and self._has_just_ended(lane)]
        if ended:
            self._pause_s = _OFTEN_S
        return bool(ended) or time.monotonic() - self._asked_at >= self._pause_s

    def _has_just_ended(self, lane: PlanLane) -> bool:
        """Return whether a lane's journal has grown since the last check, and now records that the lane ended."""
        journal = self._folder(lane) / JOURNAL
        try:
            size = journal.stat().st_size
        except OSError:
            return False
        if self._sizes.get(lane.number) == size:
            return False
        self._sizes[lane.number] = size
        return isinstance(last_record(journal), j.RunEnded)

    def _ask(self) -> None:
        self._asked_at = time.monotonic()
        found = self._scheduler.jobs(name_of_jobs(self.run_dir))
        latest: dict[int, ScheduledJob] = {}
        for job in sorted(found, key=lambda job: (job.is_live, _number(job.id))):
            latest[job.lane] = job
        self._jobs = latest
        seen = frozenset((job.id, job.described) for job in found)
        self._pause_s = _OFTEN_S if seen != self._seen else min(_RARELY_S, self._pause_s * 1.5)
        self._seen = seen
        for job in latest.values():
            if job.is_live:
                self._own.add(job.id)
            if job.stuck and job.state == "waiting":
                self._scheduler.release(job.id)
            self._report(job)

    def _report(self, job: ScheduledJob) -> None:
        """Tell the user why a job waits, once for each reason, or where it runs."""
        if not job.is_live:
            return
        now, what = f"{job.id} {job.state}", job.described if job.state == "waiting" else job.state
        if self._said.get(job.lane, ("",))[0] != now:
            self._said[job.lane] = now, set()
        said = self._said[job.lane][1]
        if what not in said:
            said.add(what)
            where = f" on {job.node}" if job.state == "running" and job.node else ""
            self.say(f"lane {job.lane}: job {job.id} is {job.described}{where}")

    def _settle(self, lane: PlanLane, *, stopping: bool) -> bool:
        if lane.number in self._over:
            return True
        job = self._jobs.get(lane.number)
        if (job is not None and job.is_live) or is_being_written(self._folder(lane)):
            return False
        if stopping or lane.number in self._given_up:
            return True
        whole, finished = self._progress(lane)
        if whole and (lane.number in self._best or finished == len(lane.cells)):
            self._over.add(lane.number)  # cells that failed are tried again by a new controller alone
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
        """Return whether all cells of a lane have their verdicts, and how many of them have succeeded or are not
        needed."""
        folder = self._folder(lane)
        record = read_run(folder)
        whole = record.end is not None and record.end.status != "interrupted"
        only = self.plan.model_copy(update={"cells": lane.cells})
        return whole, len(record.finished(only))

    def _give_up(self, lane: int, job: ScheduledJob | None, why: str) -> bool:
        log = self.run_dir / LOGS / f"lane-{lane}.log"
        said = _last_error(log)
        name = f"job {job.id} ({job.described})" if job is not None else "its job"
        self._given_up[lane] = f"{name} {why}" + (f"; it says: {said}" if said else "")
        if not log.exists() and not (job and job.cancelled):
            node = job.node if job and job.node else "its node"
            self._given_up[lane] += f"; it left no output: does {node} see {self.run_dir.resolve()}, and has it space?"
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
        return self._folders[lane.number]


def _number(job: str) -> tuple[int, str]:
    return (int(job) if job.isdecimal() else 0, job)


def _last_error(log: Path) -> str:
    """Return the last error that a job printed or, if there is none, its last line of output."""
    with suppress(OSError), log.open("rb") as file:
        file.seek(max(0, file.seek(0, 2) - _LOG_BYTES))
        lines = [line.strip() for line in file.read().decode(errors="replace").splitlines() if line.strip()]
        errors = [line.partition("error: ")[2] for line in lines if "error: " in line]
        return (errors or lines or [""])[-1]
    return ""

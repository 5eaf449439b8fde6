"""What a lab's scheduler has to do for a run: take one job for each lane, tell how these are, and cancel them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Literal, Protocol, cast

from benchbrief.compiler.lanes.plan_lanes import PlanLane
from benchbrief.compiler.planning.plan import Plan
from benchbrief.runners.errors import RunnerError

SCHEDULERS = {"slurm": "benchbrief.runners.fleet.slurm.slurm_scheduler:SlurmScheduler"}
"""The schedulers by name, each with its class."""


class SchedulerSilent(RunnerError):
    """The scheduler does not answer now. Its jobs may go on all the same."""

    code = "scheduler_silent"


class SchedulerRefused(RunnerError):
    """The scheduler takes no job as it is asked for, or is not installed."""

    code = "scheduler_refused"


JobState = Literal["waiting", "running", "ended"]


@dataclass(frozen=True)
class Job:
    """A job as its scheduler tells it. `told` has the scheduler's own words, and `node` is where it runs or ran."""

    id: str
    lane: int
    state: JobState
    told: str
    node: str = ""
    cancelled: bool = False
    """Whether somebody has cancelled it."""
    stuck: bool = False
    """Whether the scheduler holds it back after a fault of its own, until it is released."""

    @property
    def is_live(self) -> bool:
        return self.state != "ended"


@dataclass(frozen=True)
class LaneJob:
    """What a job is asked for. `name` is the same for all jobs of a run, and of no other."""

    name: str
    run_dir: Path
    lane: PlanLane
    lane_dir: Path
    nodes: Sequence[str]
    log: Path
    options: Sequence[str]
    wait: bool


class Scheduler(Protocol):
    """Every method raises SchedulerSilent, or SchedulerRefused."""

    def refuse(self, plan: Plan) -> None:
        """Raises RunnerError for a plan whose hosts the scheduler does not have."""
        ...

    def submit(self, job: LaneJob) -> str:
        """Ask for a job; return its id."""
        ...

    def jobs(self, name: str) -> list[Job]:
        """Return the jobs of this name: those that wait, run, or ended a short time ago."""
        ...

    def release(self, job: str) -> None:
        """Let a job that is stuck be tried again."""
        ...

    def cancel(self, name: str) -> None:
        """Cancel all jobs of this name. A lane gets SIGTERM, and some time to stop."""
        ...


def scheduler_named(name: str) -> Scheduler:
    """Raises RunnerError for one that is not there, as in a run of a later version."""
    if name not in SCHEDULERS:
        raise RunnerError(f"this benchbrief has no scheduler `{name}`", f"it has {', '.join(SCHEDULERS)}")
    module, _, found = SCHEDULERS[name].partition(":")
    return cast(Scheduler, getattr(import_module(module), found)())

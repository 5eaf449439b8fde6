"""The interface to a lab's scheduler, which takes a job for each lane, reports the jobs' states, and cancels them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Literal, Protocol, cast

from benchbrief.compiler.estimates.estimate import counted_cells, estimate, seconds
from benchbrief.compiler.planning.plan_lanes import PlanLane, lanes_of
from benchbrief.compiler.registry import SCHEDULER_SPECS
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.plan import Asked, Host, Option, Plan
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.plugins import create


class SchedulerSilent(RunnerError):
    """The scheduler does not answer now. Its jobs may nevertheless be running."""

    code = "scheduler_silent"


class SchedulerRefused(RunnerError):
    """The scheduler refuses a job, or is not installed."""

    code = "scheduler_refused"


JobState = Literal["waiting", "running", "ended"]
"""What a scheduler's job is doing. Schedulers have finer states, which are mapped to these."""


@dataclass(frozen=True)
class ScheduledJob:
    """A job as its scheduler shows it. `described` is its state in the scheduler's own words, and `node` is where it
    runs or ran."""

    id: str
    lane: int
    state: JobState
    described: str
    node: str = ""
    cancelled: bool = False
    """Whether somebody has cancelled the job."""
    stuck: bool = False
    """Whether the scheduler holds the job back, after a fault of its own, until somebody releases it."""

    @property
    def is_live(self) -> bool:
        return self.state != "ended"


@dataclass(frozen=True)
class LaneNeeds:
    """What a lane requires from a scheduler.

    `settings` come from the spec's block. `options` come from the command line (`partition=nvme`), and take precedence.
    `seconds` is the lane's estimated time, and `longest_s` is the estimated time of its longest cell.
    """

    lane: PlanLane
    hosts: Sequence[Host]
    settings: Mapping[str, Option]
    options: Sequence[str]
    seconds: float = 0.0
    longest_s: float = 0.0


@dataclass(frozen=True)
class LaneJob:
    """A job to submit. All jobs of a run have the same `name`, which no other run has."""

    name: str
    run_dir: Path
    needs: LaneNeeds
    lane_dir: Path
    log: Path
    wait: bool


@dataclass(frozen=True)
class PlannedJob:
    """A job before it is submitted. `asks` are the words of the request. `limit_s` is the time limit, or None if
    unknown.

    If there are `problems`, the scheduler would refuse the job or let it wait for ever. `cautions` are worth knowing
    before the job is submitted.
    """

    needs: LaneNeeds
    asks: tuple[str, ...]
    limit_s: float | None = None
    problems: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()


@dataclass(frozen=True)
class NodePool:
    """A pool of nodes for jobs, such as a partition. `usable` is the number of nodes that are neither down nor drained,
    and `idle` is how many of these are free now.

    `has` is the number of nodes with each feature.
    """

    name: str
    nodes: int
    usable: int
    idle: int
    limit_s: float | None
    has: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Given:
    """The nodes that a job was given. The keys are the plan's names for its hosts."""

    job: str
    nodes: dict[str, str]


class Scheduler(Protocol):
    """A lab's scheduler. Every method raises SchedulerSilent or SchedulerRefused."""

    def survey(self, needs: Sequence[LaneNeeds]) -> tuple[list[PlannedJob], list[NodePool]]:
        """Return the jobs for these lanes, and the pools from which their nodes would come. Submits nothing."""
        ...

    def submit(self, job: LaneJob) -> str:
        """Submit a job and return its id."""
        ...

    def given(self, asked: Mapping[str, Asked], before: Mapping[str, str], named: Sequence[str]) -> Given:
        """Return the nodes of this process's own job. The keys are the hosts that the plan asks for.

        A host keeps its node in `before` if possible. `named` are nodes that the plan itself names. Raises RunnerError
        outside of a job, and in a job that has other nodes.
        """
        ...

    def jobs(self, name: str) -> list[ScheduledJob]:
        """Return the jobs of this name that wait, run, or ended a short time ago."""
        ...

    def release(self, job: str) -> None:
        """Let the scheduler try a stuck job again."""
        ...

    def cancel(self, name: str) -> None:
        """Cancel all jobs of this name. A running lane gets SIGTERM, and some time to stop."""
        ...


def scheduler_named(name: str) -> Scheduler:
    """Return the scheduler with this name. Raises RunnerError if it is not installed, for example because a later
    version made the run."""
    return cast(Scheduler, create(SCHEDULER_SPECS, name, Scheduler))


def needs_of(plan: Plan, scheduler: str, options: Sequence[str]) -> list[LaneNeeds]:
    """Return what each lane needs from the scheduler, including its estimated times."""
    block = plan.schedulers.get(scheduler)
    settings = block.options if block else {}
    counted = counted_cells(plan.cells, plan.experiments)
    found = []
    for lane in lanes_of(plan):
        cells = [cell for cell in lane.cells if cell.id in counted]
        hosts = tuple({plan.hosts[host].name: plan.hosts[host] for host in lane.hosts}.values())
        longest = max(map(seconds, cells), default=0.0)
        found.append(LaneNeeds(lane, hosts, settings, options, estimate(cells), longest))
    return found


def refuse_other_schedulers(plan: Plan, scheduler: str) -> None:
    """Raise RunnerError if the plan asks another scheduler for hosts."""
    for host in plan.hosts.values():
        if host.asked is not None and host.asked.scheduler != scheduler:
            raise RunnerError(
                f"the spec asks {host.asked.scheduler} for {host.id}, and the run is for {scheduler}",
                f"run it with --on {host.asked.scheduler}, or change its `hosts`",
            )

"""The jobs of a plan, held against what its scheduler has, before anything is submitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchbrief.compiler.planning.plan import Plan
from benchbrief.runners.fleet.scheduler import (
    NodePool,
    PlannedJob,
    SchedulerRefused,
    needs_of,
    refuse_other_schedulers,
    scheduler_named,
)

_NAMED = 3


@dataclass(frozen=True)
class JobSurvey:
    """The job of each lane, and the nodes that they would be taken from."""

    jobs: Sequence[PlannedJob]
    pools: Sequence[NodePool]


def survey_jobs(plan: Plan, scheduler: str, options: Sequence[str]) -> JobSurvey:
    """Raises RunnerError where the scheduler is not there, or does not answer."""
    refuse_other_schedulers(plan, scheduler)
    return JobSurvey(*scheduler_named(scheduler).survey(needs_of(plan, scheduler, options)))


def refuse_unfit(jobs: Sequence[PlannedJob]) -> None:
    """Raises SchedulerRefused for jobs that would be refused, or wait for ever."""
    told = dict.fromkeys(f"lane {job.needs.lane.number}: {text}" for job in jobs for text in job.problems)
    if told:
        named = "; ".join(list(told)[:_NAMED]) + (f"; and {len(told) - _NAMED} more" if len(told) > _NAMED else "")
        raise SchedulerRefused(named, "mend the spec or the options; `bench plan SPEC --on ...` shows all jobs")

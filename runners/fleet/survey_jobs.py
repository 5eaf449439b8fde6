"""The jobs of a plan, held against what its scheduler has, before anything is submitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

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
    found = merge_remarks(jobs, "problems")
    if found:
        named = "; ".join(found[:_NAMED]) + (f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else "")
        raise SchedulerRefused(named, "mend the spec or the options; `bench plan SPEC --on ...` shows all jobs")


def merge_remarks(jobs: Sequence[PlannedJob], which: Literal["problems", "cautions"]) -> list[str]:
    """Return the problems or cautions of jobs, each text once, with the lanes that it is of."""
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

"""The classes for a scheduler, in addition to `common`: `Scheduler`, with its jobs and nodes."""

from benchbrief.model.plan import Asked
from benchbrief.runners.fleet.scheduler import (
    Given,
    JobState,
    LaneJob,
    LaneNeeds,
    NodePool,
    PlannedJob,
    ScheduledJob,
    Scheduler,
    SchedulerRefused,
    SchedulerSilent,
)

__all__ = [
    "Asked",
    "Given",
    "JobState",
    "LaneJob",
    "LaneNeeds",
    "NodePool",
    "PlannedJob",
    "ScheduledJob",
    "Scheduler",
    "SchedulerRefused",
    "SchedulerSilent",
]

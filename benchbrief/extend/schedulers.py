"""What a scheduler needs beside `common`: `Scheduler`, with the jobs and nodes that it speaks of."""

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

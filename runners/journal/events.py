"""The journal: an append-only, fsynced JSON-lines file that, with the raw outputs, is the source of truth of a run.

A run's directory:

    bench-out/<run_id>/
        plan.json           the plan, byte for byte as it was planned
        identity.json       the owner of the run's jobs and claims, whatever the folder's path
        spec/               the spec's files at that time
        simulation.json     only in a simulated run: how it is simulated
        lane.json, lanes/   in a lane's folder, its number; in a run of lanes, theirs (`fleet/lane_plans.py`)
        raw/imported/       only in an imported run: the files that were imported
        journal.jsonl       one record a line, in order of time; results reused from earlier runs come first
        raw/<cell slug>/<attempt>/<job>/   stdout, stderr, collected files, command.txt (masked)
        raw/servers/<database>/<n>/        the output of a server that we started, for each start
        store/              Parquet tables and results.duckdb: can be rebuilt from all of the above
        reports/            <report>.pdf, <report>.html

A last line without its line end is a torn write: it is ignored, with a remark. Records are never changed or removed.
Each line ends with a sum over it and all lines before (`runners/journal/line_sums.py`).
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, TypeAdapter

from benchbrief.runners.journal.records.cell_records import (
    CellEnded,
    CellResumed,
    CellReused,
    CellSkipped,
    CellStarted,
    ClockRead,
    CounterReading,
    Counters,
    DatabaseSize,
    EventRan,
    JobCollected,
    MeasuringEnded,
    NoRoom,
    Refused,
    StepEnded,
    StepStarted,
)
from benchbrief.runners.journal.records.imported_records import Imported, ImportedFile, PublishedValue
from benchbrief.runners.journal.records.lifecycle_records import (
    EngineFacts,
    Failing,
    HostFacts,
    HostsGiven,
    MergedLane,
    Remark,
    ReportMade,
    RunEnded,
    RunStarted,
    Simulated,
    TimeEstimated,
    ToolFound,
)
from benchbrief.runners.journal.records.record_base import Record
from benchbrief.runners.journal.records.search_records import (
    ExpectationsRead,
    PointChosen,
    PromiseEnded,
    RateJudged,
    SearchEnded,
    SearchPoint,
)

__all__ = [  # others import these from here
    "CellEnded",
    "CellResumed",
    "CellReused",
    "CellSkipped",
    "CellStarted",
    "ClockRead",
    "CounterReading",
    "Counters",
    "DatabaseSize",
    "EngineFacts",
    "EventRan",
    "ExpectationsRead",
    "Failing",
    "HostFacts",
    "HostsGiven",
    "Imported",
    "ImportedFile",
    "JobCollected",
    "MeasuringEnded",
    "MergedLane",
    "NoRoom",
    "PointChosen",
    "PromiseEnded",
    "PublishedValue",
    "RateJudged",
    "Record",
    "Refused",
    "Remark",
    "ReportMade",
    "RunEnded",
    "RunStarted",
    "SearchEnded",
    "SearchPoint",
    "Simulated",
    "StepEnded",
    "StepStarted",
    "TimeEstimated",
    "ToolFound",
]

AnyRecord = Annotated[
    RunStarted
    | TimeEstimated
    | HostsGiven
    | HostFacts
    | EngineFacts
    | Remark
    | ToolFound
    | CellStarted
    | CellResumed
    | CellReused
    | StepStarted
    | StepEnded
    | JobCollected
    | PublishedValue
    | CounterReading
    | Counters
    | ClockRead
    | EventRan
    | MeasuringEnded
    | DatabaseSize
    | CellEnded
    | CellSkipped
    | ExpectationsRead
    | SearchEnded
    | PointChosen
    | PromiseEnded
    | RunEnded
    | ReportMade,
    Field(discriminator="type"),
]
RECORD: TypeAdapter[AnyRecord] = TypeAdapter(AnyRecord)

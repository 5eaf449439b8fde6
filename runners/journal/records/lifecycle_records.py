"""Records of the run itself: how it begins and ends, its hosts and tools, and the reports that are made of it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from benchbrief.compiler.messages.text import Said
from benchbrief.compiler.planning.plan import DatabaseKey
from benchbrief.runners.journal.records.imported_records import Imported
from benchbrief.runners.journal.records.record_base import Frozen, Record


class Failing(Frozen):
    """The share of jobs that fail on hosts whose names match the pattern (`db-*`)."""

    pattern: str
    share: float = Field(default=1.0, ge=0, le=1)


class Simulated(Frozen):
    """How a run is simulated: `errors` is the share of operations that fail."""

    seed: int = 0
    errors: float = Field(default=0.0, ge=0, le=1)
    failing: tuple[Failing, ...] = ()


class MergedLane(Frozen):
    """A lane that was run by a process of its own: the folder that its results come from, and what its journal had.

    `owner` is the identity of its jobs on hosts. `journal_bytes` and `journal_sum` are of that journal when it was
    merged.
    """

    lane: int
    folder: str
    owner: str
    benchbrief: str
    journal_bytes: int
    journal_sum: str


class RunStarted(Record):
    type: Literal["run_started"] = "run_started"
    run_id: str
    plan_sha256: str
    benchbrief: str
    spec: str
    profile: str | None
    controller_pid: int
    resumed: bool = False
    measurement: int = 1
    """The version of what all tools share in measuring (`measurement_versions.py`)."""
    measurements: dict[str, int] = Field(default_factory=dict)
    """The version of each tool; none in journals of earlier versions, where `measurement` is that of all tools."""
    simulated: Simulated | None = None
    """None: what follows was measured on real hosts, or imported."""
    imported: Imported | None = None
    """The source of results that this run did not measure."""
    files: dict[str, str] = Field(default_factory=dict)
    """The SHA-256 of the other files that the run keeps of its beginning, by path: `spec/`, `revision.json`,
    `simulation.json`."""
    boot: str = ""
    """The id of the controller's boot; "" in journals of earlier versions, and when unknown."""
    since_boot: float | None = None
    """The seconds from that boot to `at`."""
    merged: tuple[MergedLane, ...] = ()
    """The lanes that were run by processes of their own, and whose records follow."""


class TimeEstimated(Record):
    """What the run was expected to take when it began, without what is reused from earlier runs.

    `seconds` is by experiment and activity (`compiler/estimates/time_spent.py`), `rendering_s` of its reports, `wall_s`
    from beginning to end. `runs` are the earlier runs that estimates were learned from.
    """

    type: Literal["time_estimated"] = "time_estimated"
    seconds: dict[str, dict[str, float]]
    rendering_s: float
    wall_s: float
    runs: tuple[str, ...] = ()


class HostsGiven(Record):
    """The nodes that a job of a scheduler has for hosts of the plan: what follows was measured on these.

    `nodes` is by host, `job` the scheduler's id of the job.
    """

    type: Literal["hosts_given"] = "hosts_given"
    job: str
    nodes: dict[str, str]


class HostFacts(Record):
    """Observed facts of a host as text, by name (`runners/hosts/facts/host_facts.py`)."""

    type: Literal["host_facts"] = "host_facts"
    host: str
    facts: dict[str, Said]


class EngineFacts(Record):
    """Facts of an engine. `sha256` is that of an embedded server's program; "" when there is none, or it is unknown."""

    type: Literal["engine_facts"] = "engine_facts"
    database: DatabaseKey
    facts: dict[str, Said]
    sha256: str = ""


class ToolFound(Record):
    """Where a driver's tool was found on a host, and the version that it prints ("" when it prints none).

    `sha256` is over the program and the libraries that it is linked with ("" when unknown). It differs between two
    builds of one version.
    """

    type: Literal["tool_found"] = "tool_found"
    host: str
    driver: str
    path: str
    version: Said
    sha256: str = ""


class Remark(Record):
    """A warning or remark on the run (cell None) or on a cell, shown in the run and in the brief.

    A `passing` remark may no longer hold at the run's next start, and counts until then.
    """

    type: Literal["remark"] = "remark"
    severity: Literal["info", "warning"]
    text: Said
    cell: str | None = None
    origin: str = ""
    passing: bool = False


class RunEnded(Record):
    type: Literal["run_ended"] = "run_ended"
    status: Literal["done", "failed", "interrupted"]
    """done: every cell ok; failed: at least one cell failed; interrupted: resumable."""
    message: Said = ""
    gone: bool = False
    """The controller ended earlier, nobody knows when."""


class ReportMade(Record):
    """A report of the run was written. `files` maps each file's path in `directory` to its SHA-256.

    `directory` is relative to the run's directory when it lies in there. The record may follow the run's end and
    says nothing about the run: only `reports_made` reads it.
    """

    type: Literal["report_made"] = "report_made"
    report: str
    directory: str
    files: dict[str, str]
    seconds: float | None = None
    """What it took, with the tables where they were built for it; None in journals of earlier versions."""

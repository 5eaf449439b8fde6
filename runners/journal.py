"""The journal: an append-only, fsynced JSON-lines file that, with the raw outputs, is the truth of a run.

A run's directory:

    bench-out/<run_id>/
        plan.json           the plan, byte for byte as it was made
        spec/               the spec's files as they were
        simulation.json     of a simulated run only: how it is simulated
        raw/imported/       of an imported run only: the files that it is from
        journal.jsonl       one record a line, in order of time; before all, those of results taken from earlier runs
        raw/<cell slug>/<attempt>/<job>/   stdout, stderr, collected files, command.txt (masked)
        raw/servers/<database>/<n>/        what a server that we started printed, for each time it was started
        store/              Parquet tables and results.duckdb: rebuildable from all of the above
        reports/            <report>.pdf, <report>.html

A last line without its line end is a torn write: it is ignored, and said so. Records are never changed or removed.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

MEASUREMENT_VERSION = 3
"""Raised when the same cell of a plan is measured in another way than before (other steps, commands, times), so that
its earlier results no longer stand for it. How outputs are read is no matter: they are read again each time."""


class Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    at: float
    """Epoch seconds by the controller's clock."""


class Failing(BaseModel):
    """So large a share of the jobs on hosts whose names fit the pattern (`db-*`) ends with an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    pattern: str
    share: float = Field(default=1.0, ge=0, le=1)


class Simulated(BaseModel):
    """That a run is simulated, and how: `errors` is the share of operations that fail."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    seed: int = 0
    errors: float = Field(default=0.0, ge=0, le=1)
    failing: tuple[Failing, ...] = ()


class ImportedFile(BaseModel):
    """A file that was imported: its name as it was given, and what it was then."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    sha256: str
    size: int


class Imported(BaseModel):
    """That a run's results were measured elsewhere: what kind of file they are from, and who tells them.

    `licence` says what may be done with the numbers; `statements` are what else the source says, in words.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: str
    title: str
    publisher: str
    licence: str
    url: str = ""
    document: str = ""
    date: str = ""
    statements: tuple[str, ...] = ()
    files: tuple[ImportedFile, ...]


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
    """The `MEASUREMENT_VERSION` of what measured from here on."""
    simulated: Simulated | None = None
    """None: what follows was measured on real hosts, or imported."""
    imported: Imported | None = None
    """Where results that were not measured by this run come from."""


class HostFacts(Record):
    """Observed facts of a host as text, by name (`runners/facts.py`)."""

    type: Literal["host_facts"] = "host_facts"
    host: str
    facts: dict[str, str]


class EngineFacts(Record):
    """`sha256` is that of an embedded server's program; "" where there is none, or it is not known."""

    type: Literal["engine_facts"] = "engine_facts"
    database: str
    facts: dict[str, str]
    sha256: str = ""


class Remark(Record):
    """A warning or remark for the run (cell None) or a cell, shown in the run and in the brief.

    A `passing` one is of what may be otherwise when the run is next started: it counts until then.
    """

    type: Literal["remark"] = "remark"
    severity: Literal["info", "warning"]
    text: str
    cell: str | None = None
    origin: str = ""
    passing: bool = False


class CellStarted(Record):
    """`threads` and `target` are what the cell is run with, where the plan leaves it to a search to find them."""

    type: Literal["cell_started"] = "cell_started"
    cell: str
    hash: str
    attempt: int
    threads: int | None = None
    target: float | None = None


class CellResumed(Record):
    """An attempt that an earlier controller left is gone on with in `step`: what runs there was attached to.

    Nothing is known of the controller between `away_since`, its last record before, and `at`. `began_at` is when the
    step began.
    """

    type: Literal["cell_resumed"] = "cell_resumed"
    cell: str
    hash: str
    attempt: int
    step: str
    began_at: float
    away_since: float


class CellReused(Record):
    """The records of `attempt` that follow are of another run, whose result stands for this cell.

    `reused_from` is the run that measured it, as `as_cell`, `measured_at` when that attempt began.
    """

    type: Literal["cell_reused"] = "cell_reused"
    cell: str
    hash: str
    attempt: int
    reused_from: str
    as_cell: str
    measured_at: float
    measurement: int


class ToolFound(Record):
    """Where a driver's tool was found on a host, and what it says its version is ("" when it says nothing).

    `sha256` is of the program and the libraries that it is linked with ("" when it could not be had): two builds of one
    version differ in it.
    """

    type: Literal["tool_found"] = "tool_found"
    host: str
    driver: str
    path: str
    version: str
    sha256: str = ""


class StepStarted(Record):
    type: Literal["step_started"] = "step_started"
    cell: str
    attempt: int
    step: str
    seconds: float
    """How long the plan expects it to take."""


class StepEnded(Record):
    type: Literal["step_ended"] = "step_ended"
    cell: str
    attempt: int
    step: str
    seconds: float
    skipped: str = ""
    """Why the step was not needed (e.g. "data set reused"), empty when it ran."""


class JobCollected(Record):
    """A job's raw output was kept. `files` maps each file's path in `directory` to its SHA-256."""

    type: Literal["job_collected"] = "job_collected"
    cell: str
    attempt: int
    step: str
    job: str
    """`measure`, `load`, `warm_up`, or `probe:<name>:<host>`: `probe:cpu,disk:<host>` where probes share a job."""
    host: str
    directory: str
    """Relative to the run's directory."""
    exit_code: int | None
    started_at: float
    ended_at: float
    files: dict[str, str]


class PublishedValue(Record):
    """A metric of the spec as a source tells it, without what it was computed from: never a measurement.

    `bound` is low or high where the source tells a range; `keys` are the dimensions that it is of.
    """

    type: Literal["published_value"] = "published_value"
    metric: str
    bound: Literal["value", "low", "high"]
    keys: dict[str, str | float]
    value: float
    unit: str
    origin: str


class CounterReading(Record):
    """A reading of server counters, taken `at` that time: kept for a controller that goes on with the attempt.

    Not every reading is kept in this way; what counts is the `Counters` record that sums them up.
    """

    type: Literal["counter_reading"] = "counter_reading"
    cell: str
    attempt: int
    counters: dict[str, float]


class Counters(Record):
    """Server counters just before and after the measured job, and between the two.

    `samples` are pairs of epoch seconds by the controller's clock and counters; `before` and `after`, where they could
    be read, are the first and the last. `problem` says which readings failed, "" when none did.
    """

    type: Literal["counters"] = "counters"
    cell: str
    attempt: int
    node: str
    before: dict[str, float]
    after: dict[str, float]
    samples: tuple[tuple[float, dict[str, float]], ...] = ()
    problem: str = ""


class ClockRead(Record):
    """A host's clock just before or after the measurement: see `runners/clock.py`."""

    type: Literal["clock_read"] = "clock_read"
    cell: str
    attempt: int
    host: str
    when: Literal["before", "after"]
    offset_s: float
    """How far it is ahead of the controller's, give or take `uncertainty_s`."""
    uncertainty_s: float
    booted: float | None
    """When the host started, in epoch seconds by its own clock."""


class CellEnded(Record):
    """The cell's verdict. `origin` is the spec line that a failure belongs to.

    `latency_s` is the statistic that the cell's search goes by, None for a cell of no search.
    """

    type: Literal["cell_ended"] = "cell_ended"
    cell: str
    hash: str
    attempt: int
    status: Literal["ok", "failed"]
    reason: str = ""
    origin: str = ""
    ops_per_s: float | None = None
    latency_s: float | None = None
    retried: bool = False
    """A failed attempt that is not the cell's last: it is tried again, where its host is away once that is back."""


class CellSkipped(Record):
    """A cell that is not needed, as the search or the repeats that it belongs to are over before."""

    type: Literal["cell_skipped"] = "cell_skipped"
    cell: str
    hash: str
    reason: str


class SearchPoint(BaseModel):
    """What a search saw at a point: the mean throughput, and the highest latency, of its repeats."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    point: float
    ops_per_s: float
    latency_s: float


class SearchEnded(Record):
    """What a search found on one hardware with one workload: the knee, or None when it has none up to its last point.

    It follows from the verdicts of the cells in `points`, and is kept as it was decided.
    """

    type: Literal["search_ended"] = "search_ended"
    experiment: str
    hardware: str
    workload: str
    axis: Literal["threads", "target"]
    knee: float | None
    points: tuple[SearchPoint, ...]


class RunEnded(Record):
    type: Literal["run_ended"] = "run_ended"
    status: Literal["done", "failed", "interrupted"]
    """done: every cell ok; failed: at least one cell failed; interrupted: resumable."""
    message: str = ""


AnyRecord = Annotated[
    RunStarted
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
    | CellEnded
    | CellSkipped
    | SearchEnded
    | RunEnded,
    Field(discriminator="type"),
]
RECORD: TypeAdapter[AnyRecord] = TypeAdapter(AnyRecord)

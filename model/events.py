"""The journal: an append-only, fsynced JSON-lines file that, with the raw outputs, is the source of truth of a run.

A run's directory:

    bench-out/<run_id>/
        plan.json           the plan, byte for byte as it was planned
        identity.json       the owner of the run's jobs and claims, whatever the folder's path
        spec/               the spec's files at that time
        simulation.json     only in a simulated run: how it is simulated
        lane.json, lanes/   in a lane's folder, its number; in a run of lanes, theirs (`fleet/lane_folder.py`)
        raw/imported/       only in an imported run: the files that were imported
        journal.jsonl       one record a line, in order of time; results reused from earlier runs come first
        raw/<cell slug>/<attempt>/<job>/   stdout, stderr, collected files, command.txt (masked)
        raw/servers/<database>/<n>/        the output of a server that we started, for each start
        held-out/<claim>-<n>/  the run that measured the point of a claim again, for the nth time
        store/              Parquet tables and results.duckdb: can be rebuilt from all of the above
        reports/            <report>.pdf, <report>.html

A last line without its line end is a torn write: it is ignored, with a remark. Records are never changed or removed.
Each line ends with a sum over it and all lines before (`runners/journal/journal_file.py`)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from benchbrief.model.message import Said
from benchbrief.model.plan import DatabaseKey, Levels


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class JournalPlace(NamedTuple):
    """Where a journal has a record: the offset and the length of a line in bytes, with its end."""

    path: Path
    at: int
    length: int


class Record(Frozen):
    at: float
    """Epoch seconds by the controller's time (`controller_clock.py`), which setting a clock does not move."""


NoRoom = Literal["", "repeat", "point"]
"""What a budget has no room for: a repeat, so that an interval stays wider, or a whole point."""


Refused = Literal["", "generator", "system"]
"""Why numbers are refused: the generator was late, or the system did not serve its load."""


class CellStarted(Record):
    """An attempt at a cell began. `threads` and `target` are its values when a search had to find them."""

    type: Literal["cell_started"] = "cell_started"
    cell: str
    hash: str
    attempt: int
    threads: int | None = None
    target: float | None = None


class CellResumed(Record):
    """An earlier controller's attempt was resumed in `step`: this controller attached to what runs there.

    Nothing is known about the time between `away_since`, the last record before, and `at`. `began_at` is when the
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
    """The following records of `attempt` come from another run, whose result is used for this cell.

    `reused_from` is the run that measured it, and `as_cell` the cell's id there; `measured_at` is when that
    attempt began.
    """

    type: Literal["cell_reused"] = "cell_reused"
    cell: str
    hash: str
    attempt: int
    reused_from: str
    as_cell: str
    measured_at: float
    measurement: int
    tool_measurement: int | None = None
    """The version of the tool; None where `measurement` is that of all tools."""


class StepStarted(Record):
    type: Literal["step_started"] = "step_started"
    cell: str
    attempt: int
    step: str
    seconds: float  # as the plan expects


class StepEnded(Record):
    type: Literal["step_ended"] = "step_ended"
    cell: str
    attempt: int
    step: str
    seconds: float
    skipped: Said = ""
    """Why the step was not needed; "" when it ran."""


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
    clock_set_s: float | None = None
    """By how much the host's clock was set while the job ran; None when that was not checked."""
    booted: float | None = None
    """When the host started, by its clock at the job's start. Shows whether the clock was set before."""
    other_cores: float | None = None
    """Cores of the host that were busy with other work, on average over the job; None when unknown."""


MEASURE = "measure"
"""The job that measures."""
PROBE = "probe:"
SAMPLES = "samples"
"""The file of an imported log of samples."""
SOURCE = "source"
"""The job that stands for a file with the numbers of many cells."""


def probes_of(job: JobCollected) -> tuple[str, ...]:
    """Return the probes of a job: `probe:cpu,disk:db-1` has two; a job of another kind has none."""
    return tuple(job.job.split(":")[1].split(",")) if job.job.startswith(PROBE) else ()


class CounterReading(Record):
    """A reading of server counters at the time `at`, kept for a controller that resumes the attempt.

    Not every reading is kept in this way. The `Counters` record, which sums them up, is what counts.
    """

    type: Literal["counter_reading"] = "counter_reading"
    cell: str
    attempt: int
    counters: dict[str, float]


class Counters(Record):
    """Server counters just before the measured job, just after it, and between.

    `samples` are pairs of epoch seconds by the controller's time and counters. `before` and `after` are the first
    and the last, if they could be read. `problem` says which readings failed, "" when none did.
    """

    type: Literal["counters"] = "counters"
    cell: str
    attempt: int
    node: str
    before: dict[str, float]
    after: dict[str, float]
    samples: tuple[tuple[float, dict[str, float]], ...] = ()
    problem: Said = ""


class DatabaseSize(Record):
    """A cell's database size in bytes: `loaded`, before its warm-up, and `measured`, after its measurement.

    `on_disk` is what its files take, `logical` the size of the records in them. Each is None when unknown, and its
    reason says why.
    """

    type: Literal["database_size"] = "database_size"
    cell: str
    attempt: int
    node: str
    when: Literal["loaded", "measured"]
    on_disk: float | None
    logical: float | None
    why_no_disk: Said = ""
    why_no_logical: Said = ""


class ClockRead(Record):
    """A host's clock just before or after the measurement: see `runners/hosts/host_clocks.py`."""

    type: Literal["clock_read"] = "clock_read"
    cell: str
    attempt: int
    host: str
    when: Literal["before", "after"]
    offset_s: float
    """How far the host's clock is ahead of the controller's time, plus or minus `uncertainty_s`."""
    uncertainty_s: float
    booted: float | None
    """When the host started, in epoch seconds by its own clock."""


class EventRan(Record):
    """How the command of an event ran on a host, beside the measurement of a cell. `number` counts from 1.

    `began_at` is by the controller's time; None when it is not known, and for a simulated one, which is never late.
    `exit_code` is None for a command that did not end in its time.
    """

    type: Literal["event_ran"] = "event_ran"
    cell: str
    attempt: int
    number: int
    label: str
    host: str
    began_at: float | None
    seconds: float
    exit_code: int | None
    said: str = ""
    """The end of its output."""


class MeasuringEnded(Record):
    """How a measurement that goes on until it is steady ended, after `lasted_s`: `steady`, or after its longest time.
    It was to be steady within a share of the mean (`within`), and to last from `from_s` to `most_s`.

    `cut_s` is the warm-up part at its beginning that is cut off; null where that goes into the second half, so that all
    of it counts. For the rest, half the width of the 95 % interval of each mean is given as a share of the mean, with
    the correlation of successive batches; null where there is no mean.
    """

    type: Literal["measuring_ended"] = "measuring_ended"
    cell: str
    attempt: int
    steady: bool
    within: float
    from_s: float
    most_s: float
    lasted_s: float
    cut_s: float | None
    throughput_half_width: float | None = None
    throughput_correlation: float | None = None
    latency_half_width: float | None = None
    latency_correlation: float | None = None


class CellEnded(Record):
    """The cell's verdict. `origin` is the spec line that caused a failure.

    `latency_s` is the statistic that the cell's search uses, None for a cell outside a search.
    """

    type: Literal["cell_ended"] = "cell_ended"
    cell: str
    hash: str
    attempt: int
    status: Literal["ok", "failed"]
    reason: Said = ""
    origin: str = ""
    ops_per_s: float | None = None
    latency_s: float | None = None
    asked: dict[str, float] = Field(default_factory=dict)
    """What decides on a budget or a promise: other statistics such as `p99 read`, `errors`, and the share of the
    offered load that was `served`, in base units."""
    retried: bool = False
    """Whether the attempt failed and the cell is tried again. Where a host is away, that is after it comes back."""
    by_plan: bool = False  # the plan itself is the cause of the failure, so that another attempt fails in the same way
    by_host: bool = False  # a host is the cause of the failure
    refused: Refused = ""


class CellSkipped(Record):
    """A cell that is not needed, as its search, ramp or repeats ended before, or that a budget has no room for."""

    type: Literal["cell_skipped"] = "cell_skipped"
    cell: str
    hash: str
    reason: Said
    no_room: NoRoom = ""


class ImportedFile(Frozen):
    """A file that was imported: its name as given, and its digest at that time."""

    name: str
    sha256: str
    size: int


class Imported(Frozen):
    """Where the results of an imported run come from: the kind of file, and the source that states them.

    `licence` says how the numbers may be used. `statements` are what else the source says, in words. `limits` are what
    its numbers do not show. `told` are the versions and settings that it states, each a name and a text. `facts` are
    the names of the spec's facts that it states, None when unknown.
    """

    kind: str
    title: str
    publisher: str
    licence: str
    url: str = ""
    document: str = ""
    date: str = ""
    statements: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    told: tuple[tuple[str, str], ...] = ()
    facts: tuple[str, ...] | None = None
    files: tuple[ImportedFile, ...]

    @property
    def cited(self) -> str:
        """The title, with its publisher where there is one."""
        return f"{self.title} ({self.publisher})" if self.publisher else self.title


class PublishedValue(Record):
    """A metric of the spec as a source states it, without the data it was computed from. It is never a measurement.

    `bound` is low or high when the source states a range. `keys` are the value's dimensions.
    """

    type: Literal["published_value"] = "published_value"
    metric: str
    bound: Literal["value", "low", "high"]
    keys: dict[str, str | float]
    value: float
    unit: str
    origin: str


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

    `owner` is the identity of its jobs on hosts. `journal_bytes` and `journal_sum` are of that journal when
    it was merged.
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
    """How the run is simulated; None if what follows was measured on real hosts, or imported."""
    imported: Imported | None = None
    """The source of results that this run did not measure."""
    files: dict[str, str] = Field(default_factory=dict)
    """The SHA-256 of the other files that the run keeps from its start, by path: `spec/`,
    `revision.json`, `simulation.json`."""
    boot: str = ""
    """The id of the controller's boot; "" in journals of earlier versions, and when unknown."""
    since_boot: float | None = None
    """The seconds from that boot to `at`."""
    merged: tuple[MergedLane, ...] = ()
    """The lanes that were run by processes of their own, and whose records follow."""


class TimeEstimated(Record):
    """What the run was expected to take when it began, without what is reused from earlier runs.

    `seconds` is by experiment and activity (`compiler/estimates/estimate.py`), `rendering_s` of its reports, `wall_s`
    from beginning to end. `runs` are the earlier runs that estimates were learned from.
    """

    type: Literal["time_estimated"] = "time_estimated"
    seconds: dict[str, dict[str, float]]
    rendering_s: float
    wall_s: float
    runs: tuple[str, ...] = ()


class HostsGiven(Record):
    """The nodes that a scheduler's job provides for hosts of the plan. What follows was measured on them.

    `nodes` is by host, `job` the scheduler's id of the job.
    """

    type: Literal["hosts_given"] = "hosts_given"
    job: str
    nodes: dict[str, str]


class HostFacts(Record):
    """Observed facts of a host as text, by name (`runners/hosts/host_facts.py`)."""

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
    """How long the report took, with the tables if they were built for it; None in journals of earlier versions."""


class PointChosen(Record):
    """The next point of an adaptive ramp, which its curves share: the `number`th of those that were tried.

    It follows from the verdicts of the cells before, and is kept as it was decided.
    """

    type: Literal["point_chosen"] = "point_chosen"
    experiment: str
    hardware: tuple[str, ...]
    workload: str
    levels: Levels = Levels()
    axis: Literal["threads", "target"]
    point: float
    number: int
    why: Said

    @property
    def ramp(self) -> tuple[str, tuple[str, ...], str, Levels]:
        return self.experiment, self.hardware, self.workload, self.levels


class HeldOutBegan(Record):
    """The point of a claim's extreme is being measured again, in the run `folder` below this one, after all the rest.

    `places` says where each extreme was found, among `points`, and `value` what the claim's number was then; `sha256`
    is that of its SQL. `attempt` counts how often it was measured again, also in the runs whose results this one
    reuses. The winner is kept as it was chosen. The record follows the run's end, and another end follows it.
    """

    type: Literal["held_out_began"] = "held_out_began"
    claim: str
    folder: str = Field(pattern=r"^[A-Za-z_]\w{0,150}-\d{1,6}$")
    attempt: int
    places: tuple[dict[str, str | float | None], ...]
    points: int
    value: float
    sha256: str


class RateJudged(Frozen):
    """The runs at a rate: how many kept a promise, broke it, were beyond the load generator, and failed. The `held_out`
    runs that did not fail count apart: how many kept it, and how many were beyond the generator."""

    rate: float
    met: int
    broken: int
    beyond: int = 0
    failed: int = 0
    held_met: int = 0
    held_out: int = 0
    held_beyond: int = 0

    @property
    def all_met(self) -> int:
        return self.met + self.held_met

    @property
    def all_broken(self) -> int:
        """How many runs broke the promise, without those that were beyond the generator."""
        return self.broken + self.held_out - self.held_met - self.held_beyond


class PromiseEnded(Record):
    """What a search for a promise found on one hardware with one workload: see `model/rate_search.py`.

    `above` is the next candidate, which breaks the promise, or with `by_generator` can't be offered. `sure`: both sides
    of the edge were decided with confidence, and not by the majority of all repeats or by held-out runs. `lowered`:
    held-out runs at higher rates broke the promise, or were beyond the generator. Of the `held_out` runs at `rate`
    that have not failed, `held_met` kept the promise. It follows from the verdicts of the cells, and is kept as it
    was decided.
    """

    type: Literal["promise_ended"] = "promise_ended"
    experiment: str
    hardware: str
    workload: str
    levels: Levels = Levels()
    kind: Literal["found", "at_least", "none", "undecided"]
    rate: float | None
    above: float | None = None
    by_generator: bool = False
    sure: bool
    lowered: bool = False
    held_met: int = 0
    held_out: int = 0
    rates: tuple[RateJudged, ...]

    @property
    def confirmed(self) -> bool:
        """Whether there are held-out runs, and all of them kept the promise."""
        return 0 < self.held_met == self.held_out

    @property
    def sustained(self) -> float | None:
        """The rate that keeps the promise, as far as the search shows; None where held-out runs contradict it."""
        return self.rate if self.kind in ("found", "at_least") and self.confirmed else None

    @property
    def kept_above(self) -> float | None:
        """The highest rate above `rate` at which most runs kept the promise, although a run at a lower rate
        broke it."""
        above = (each for each in self.rates if self.rate is not None and each.rate > self.rate)
        kept = (each.rate for each in above if each.met > each.broken + each.beyond and each.held_met == each.held_out)
        return max(kept, default=None)


class SearchPoint(Frozen):
    """What a search saw at a point: the mean throughput of its repeats, and their highest latency."""

    point: float
    ops_per_s: float
    latency_s: float


class SearchEnded(Record):
    """What a search found on one hardware with one workload: the knee, or None when no point up to the last is one.

    It follows from the verdicts of the cells in `points`, and is kept as it was decided.
    """

    type: Literal["search_ended"] = "search_ended"
    experiment: str
    hardware: str
    workload: str
    levels: Levels = Levels()
    axis: Literal["threads", "target"]
    knee: float | None
    points: tuple[SearchPoint, ...]


class ExpectationsRead(Record):
    """A budget read the expectations to choose the next repeat, `cell`. Reading them took `seconds` of that budget."""

    type: Literal["expectations_read"] = "expectations_read"
    cell: str
    seconds: float


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
    | HeldOutBegan
    | RunEnded
    | ReportMade,
    Field(discriminator="type"),
]
RECORD: TypeAdapter[AnyRecord] = TypeAdapter(AnyRecord)

"""The journal, an append-only, fsynced JSON-lines file. Together with the raw outputs, it is the source of truth of a
run.

A run's directory:

    bench-out/<run_id>/
        plan.json           the plan, byte for byte as it was planned
        identity.json       the owner of the run's jobs and claims, whatever the folder's path
        spec/               the spec's files at that time
        simulation.json     only in a simulated run: how it is simulated
        lane.json           only in a lane's folder: the lane's number (`fleet/lane_folder.py`)
        lanes/              only in a run of lanes: the lanes' folders
        raw/imported/       only in an imported run: the files that were imported
        journal.jsonl       one record a line, in order of time; results reused from earlier runs come first
        raw/<cell slug>/<attempt>/<job>/   stdout, stderr, collected files, command.txt (masked)
        raw/servers/<database>/<n>/        the output of a server that we started, for each start
        held-out/<claim>-<n>/  the run that measured the point of a claim again, for the nth time
        store/              Parquet tables and results.duckdb: can be rebuilt from all of the above
        reports/            <report>.pdf, <report>.html

If the last line has no line break, it was written only in part, and is ignored with a remark. Records are never changed
or removed. Each line ends with a checksum of itself and all lines before it (`runners/journal/journal_file.py`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from benchbrief.model.message import Said
from benchbrief.model.plan import DatabaseKey, Levels


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class JournalPlace(NamedTuple):
    """The position of a record in a journal: the offset and length of its line in bytes, including the line break."""

    path: Path
    at: int
    length: int


class Record(Frozen):
    at: float
    """The time in epoch seconds on the controller's clock (`controller_clock.py`), which does not jump when a clock is
    set."""


NoRoom = Literal["", "repeat", "point"]
"""The part of the plan that a budget had no room for. If this is a repeat, the point's interval is wider; if it is a
whole point, the point is missing."""


Refused = Literal["", "generator", "system"]
"""The reason why numbers are refused: the load generator was late, or the system did not serve its load."""


class CellStarted(Record):
    """An attempt at a cell started. `threads` and `target` are the cell's values if a search had to find them."""

    type: Literal["cell_started"] = "cell_started"
    cell: str
    hash: str
    attempt: int
    threads: int | None = None
    target: float | None = None


class CellResumed(Record):
    """This controller resumed an earlier controller's attempt in `step`, by attaching to its running jobs.

    Nothing is known about the time from `away_since`, when the last earlier record was written, to `at`. `began_at` is
    when the step started.
    """

    type: Literal["cell_resumed"] = "cell_resumed"
    cell: str
    hash: str
    attempt: int
    step: str
    began_at: float
    away_since: float


class CellReused(Record):
    """The following records of `attempt` come from another run, whose result this cell uses.

    `reused_from` is the run that measured the attempt, `as_cell` is the cell's id in that run, and `measured_at` is
    when the attempt started there.
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
    """The version of the tool's way of measuring, or None if `measurement` covers all tools."""


class StepStarted(Record):
    type: Literal["step_started"] = "step_started"
    cell: str
    attempt: int
    step: str
    seconds: float  # as planned


class StepEnded(Record):
    type: Literal["step_ended"] = "step_ended"
    cell: str
    attempt: int
    step: str
    seconds: float
    skipped: Said = ""
    """Why the step was not needed, or "" if it ran."""


class JobCollected(Record):
    """A job's raw output was stored. `files` maps each file's path in `directory` to its SHA-256."""

    type: Literal["job_collected"] = "job_collected"
    cell: str
    attempt: int
    step: str
    job: str
    """`measure`, `load`, `warm_up`, or `probe:<name>:<host>`. If probes share a job, it is `probe:cpu,disk:<host>`."""
    host: str
    directory: str
    """The path relative to the run's directory."""
    exit_code: int | None
    started_at: float
    ended_at: float
    files: dict[str, str]
    clock_set_s: float | None = None
    """By how many seconds the host's clock was set during the job, or None if that was not checked."""
    booted: float | None = None
    """When the host booted, by its clock at the job's start. The time shows whether the clock was set before."""
    other_cores: float | None = None
    """How many of the host's cores did other work during the job, on average, or None if this is unknown."""


MEASURE = "measure"
"""The name of the job that measures."""
PROBE = "probe:"
SAMPLES = "samples"
"""The name of the file with an imported log of samples."""
SOURCE = "source"
"""The job name that is used for a file with the numbers of many cells."""


def probes_of(job: JobCollected) -> tuple[str, ...]:
    """Return a job's probes: `probe:cpu,disk:db-1` has two. Jobs of other kinds have no probes."""
    return tuple(job.job.split(":")[1].split(",")) if job.job.startswith(PROBE) else ()


class CounterReading(Record):
    """A reading of server counters at the time `at`, saved for a controller that resumes the attempt.

    Not every reading is kept this way. The `Counters` record, which sums the readings up, is the one that counts.
    """

    type: Literal["counter_reading"] = "counter_reading"
    cell: str
    attempt: int
    counters: dict[str, float]


class Counters(Record):
    """Readings of server counters just before, just after and during the measured job.

    Each of the `samples` has its time, in epoch seconds on the controller's clock, and the counters. `before` and
    `after` are the first and the last reading, if they succeeded. `problem` says which readings failed. It is "" if all
    succeeded.
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
    """A cell's database size in bytes: `loaded`, before the warm-up, and `measured`, after the measurement.

    `on_disk` is the size of the database's files, and `logical` is the size of the records in them. A size is None if
    it is unknown, for the reason given.
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
    """A reading of a host's clock, just before or after the measurement (see `runners/hosts/host_clocks.py`)."""

    type: Literal["clock_read"] = "clock_read"
    cell: str
    attempt: int
    host: str
    when: Literal["before", "after"]
    offset_s: float
    """How far the host's clock is ahead of the controller's time, plus or minus `uncertainty_s`."""
    uncertainty_s: float
    booted: float | None
    """When the host booted, in epoch seconds by its own clock."""


class EventRan(Record):
    """How an event's command ran on a host during the measurement of a cell. `number` counts the events from 1.

    `began_at` is on the controller's time. It is None if unknown, and for a simulated event, which is never late.
    `exit_code` is None if the command did not end in time.
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
    """The end of the command's output."""


class MeasuringEnded(Record):
    """The end, after `lasted_s`, of a measurement that lasts until the load is steady. If it is not `steady`, the
    longest time was up. `within` is the allowed error as a share of the mean, `from_s` is the shortest time, and
    `most_s` is the longest.

    `cut_s` is the length of the warm-up part that is cut off at its beginning. It is null if that part reaches into the
    second half, in which case everything counts. The other fields describe the remaining part: half the width of each
    mean's 95 % interval, as a share of the mean, and the correlation of successive batches. They are null if there is
    no mean.
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
    """The verdict on a cell. `origin` is the line of the spec that caused a failure.

    `latency_s` is the statistic that the cell's search uses, or None for a cell outside a search.
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
    """The values that a budget or a promise is judged by, in base units: other statistics such as `p99 read`, `errors`,
    and the share of the offered load that was `served`."""
    retried: bool = False
    """Whether the attempt failed and the cell is tried again, after an absent host has come back."""
    by_plan: bool = False  # the plan itself is the cause of the failure, so that another attempt fails in the same way
    by_host: bool = False  # a host is the cause of the failure
    refused: Refused = ""


class CellSkipped(Record):
    """A cell was skipped, because its search, ramp or repeats ended earlier, or because it did not fit in a budget."""

    type: Literal["cell_skipped"] = "cell_skipped"
    cell: str
    hash: str
    reason: Said
    no_room: NoRoom = ""


class ImportedFile(Frozen):
    """A file that was imported, with its name as given and its digest at that time."""

    name: str
    sha256: str
    size: int


class Imported(Frozen):
    """The origin of an imported run's results: the kind of file, and the source that published them.

    `licence` says how the numbers may be used. `statements` are the source's other statements, in words. `limits` are
    the limitations of its numbers. `told` has the versions and settings that the source states, each as a name and a
    text. `facts` are the names of the spec's facts that it states, or None if they are unknown.
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
        """The title, with its publisher if there is one."""
        return f"{self.title} ({self.publisher})" if self.publisher else self.title


class PublishedValue(Record):
    """A value of one of the spec's metrics, as a source states it. The data behind the value are not known, so it never
    counts as a measurement.

    `bound` is low or high if the source states a range. `keys` are the value's dimensions.
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
    """How a run is simulated. `errors` is the share of operations that fail."""

    seed: int = 0
    errors: float = Field(default=0.0, ge=0, le=1)
    failing: tuple[Failing, ...] = ()


class MergedLane(Frozen):
    """A lane that a separate process ran: the folder of its results, and its journal's state.

    `owner` is the identity of its jobs on hosts. `journal_bytes` and `journal_sum` describe its journal at the time of
    the merge.
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
    """The version of the way of measuring that all tools share (`measurement_versions.py`)."""
    measurements: dict[str, int] = Field(default_factory=dict)
    """The version of each tool's way of measuring. It is empty in journals of earlier versions, where `measurement`
    covers all tools."""
    simulated: Simulated | None = None
    """How the run is simulated. None means that its further results are measured on real hosts or imported."""
    imported: Imported | None = None
    """The source of results that were not measured by this run."""
    files: dict[str, str] = Field(default_factory=dict)
    """The SHA-256 of the other files that the run keeps from its start, by path: `spec/`, `revision.json`,
    `simulation.json`."""
    boot: str = ""
    """The id of the controller's boot. It is "" if the id is unknown, and in journals of earlier versions."""
    since_boot: float | None = None
    """The seconds from the controller's boot to `at`."""
    merged: tuple[MergedLane, ...] = ()
    """The lanes that were run by separate processes. Their records follow."""


class TimeEstimated(Record):
    """The time that the run was expected to take when it started, without results reused from earlier runs.

    `seconds` maps each experiment to the times of its activities (`compiler/estimates/estimate.py`). `rendering_s` is
    for rendering the reports, and `wall_s` is from start to end. `runs` are the earlier runs from which the estimates
    were learned.
    """

    type: Literal["time_estimated"] = "time_estimated"
    seconds: dict[str, dict[str, float]]
    rendering_s: float
    wall_s: float
    runs: tuple[str, ...] = ()


class HostsGiven(Record):
    """The nodes that a scheduler's job provides for hosts of the plan. The results that follow were measured on them.

    `nodes` maps each host to its node. `job` is the scheduler's id of the job.
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
    """Facts of an engine. `sha256` is the digest of an embedded server's program. It is "" if there is no such program,
    or if the digest is unknown."""

    type: Literal["engine_facts"] = "engine_facts"
    database: DatabaseKey
    facts: dict[str, Said]
    sha256: str = ""


class ToolFound(Record):
    """The place where a driver's tool was found on a host, and the version that it prints, or "" if it prints none.

    `sha256` covers the program and the libraries that it is linked with, and is "" if unknown. Two builds of one
    version have different digests.
    """

    type: Literal["tool_found"] = "tool_found"
    host: str
    driver: str
    path: str
    version: Said
    sha256: str = ""


class Remark(Record):
    """A warning or remark on a cell, or on the run if `cell` is None, shown during the run and in the brief.

    A `passing` remark counts only until the run is started again, since it may no longer be true then.
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
    """"done" if every cell is ok, "failed" if at least one cell failed, or "interrupted" if the run can be resumed."""
    message: Said = ""
    gone: bool = False
    """Whether the controller had already ended at an unknown earlier time."""


class ReportMade(Record):
    """A report of the run was written. `files` maps each file's path in `directory` to its SHA-256.

    `directory` is relative to the run's directory if it is inside. The record may come after the run's end. It says
    nothing about the run itself, so only `records_of` reads it.
    """

    type: Literal["report_made"] = "report_made"
    report: str
    directory: str
    files: dict[str, str]
    seconds: float | None = None
    """How long the report took, including the tables if they were built for it. It is None in journals of earlier
    versions."""


class PointChosen(Record):
    """An adaptive ramp chose its next point, which all its curves share. `number` counts the points that the ramp
    tries.

    The choice follows from the verdicts of earlier cells. The record keeps it as it was first made.
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
    """The best point of a claim is being measured again, after all other cells, in the run `folder` inside this run's
    folder.

    `places` has the place of each extreme that was found among `points`, `value` is the claim's number at that time,
    and `sha256` is the digest of its SQL. `attempt` counts how often the point was measured again, including in runs
    whose results this one reuses. The record keeps the winner as it was first chosen. It comes between the run's end
    record and a second end record.
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
    """How many runs at one rate kept a promise, broke it, were beyond the load generator (which could not offer the
    rate), and failed. `held_out` runs that did not fail are counted separately: how many kept the promise, and how many
    were beyond the generator.
    """

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
        """How many runs broke the promise, excluding those beyond the generator."""
        return self.broken + self.held_out - self.held_met - self.held_beyond


class PromiseEnded(Record):
    """The result of a search for a promise, on one hardware group with one workload (see `model/rate_search.py`).

    `above` is the next candidate. It breaks the promise or, if `by_generator`, it can't be offered. `sure` means that
    the verdicts on `rate` and on `above` were reached with confidence, and not by the majority of all repeats or by
    held-out runs. `lowered` means that held-out runs at higher rates broke the promise or were beyond the generator. Of
    the `held_out` runs at `rate` that have not failed, `held_met` kept the promise. The result follows from the cells'
    verdicts, and is recorded as it was decided.
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
        """The rate that keeps the promise according to the search, or None if held-out runs contradict the search."""
        return self.rate if self.kind in ("found", "at_least") and self.confirmed else None

    @property
    def kept_above(self) -> float | None:
        """The highest rate above `rate` at which most runs kept the promise, although a run at a lower rate broke
        it."""
        above = (each for each in self.rates if self.rate is not None and each.rate > self.rate)
        kept = (each.rate for each in above if each.met > each.broken + each.beyond and each.held_met == each.held_out)
        return max(kept, default=None)


class SearchPoint(Frozen):
    """The data of a search at one point: the mean throughput of its repeats, and their highest latency."""

    point: float
    ops_per_s: float
    latency_s: float


class SearchEnded(Record):
    """The result of a search on one hardware group with one workload: the knee, or None if no point is a knee.

    The result follows from the verdicts of the cells in `points`, and is recorded as it was decided.
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

"""Records of a cell: the beginning of each attempt, its steps with what was kept of them, and its verdict."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from benchbrief.compiler.messages.text import Said
from benchbrief.runners.journal.records.record_base import Record

NoRoom = Literal["", "repeat", "point"]
"""What a budget has no room for: a repeat, without which an interval is wider, or a point, which is missing then."""


Refused = Literal["", "generator", "system"]
"""Who is the cause that numbers are refused: a generator that was late, or a system that did not serve its load."""


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

    Nothing is known of the time between `away_since`, the last record before, and `at`. `began_at` is when the step
    began.
    """

    type: Literal["cell_resumed"] = "cell_resumed"
    cell: str
    hash: str
    attempt: int
    step: str
    began_at: float
    away_since: float


class CellReused(Record):
    """The following records of `attempt` come from another run, whose result stands for this cell.

    `reused_from` is the run that measured it, as `as_cell`; `measured_at` is when that attempt began.
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
    """How far it is ahead of the controller's time, plus or minus `uncertainty_s`."""
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
    """How a measurement ended that was to go on until it is steady, within a share of the mean (`within`), for `from_s`
    at least and `most_s` at most: `steady`, after `lasted_s`, or after its longest time.

    `cut_s` is the transient at its beginning, which no number is of; null where that goes into the second half, so that
    all of it counts. Of the rest, half the width of the 95 % interval of each mean is a share of the mean, and the
    correlation that of batches that follow each other; null where there is no mean.
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
    """What a budget or a promise is decided by: other statistics such as `p99 read`, `errors`, and the share of the
    offered load that was `served`, in base units."""
    retried: bool = False
    """A failed attempt that is not the cell's last: the cell is tried again, after a host that is away comes back."""
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

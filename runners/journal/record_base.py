"""The base of all journal records, what a run chooses and finds while it runs, and whose numbers an import has."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from benchbrief.compiler.messages.text import Said


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Record(Frozen):
    at: float
    """Epoch seconds by the controller's time (`controller_clock.py`), which setting a clock does not move."""


NoRoom = Literal["", "repeat", "point"]
"""What a budget has no room for: a repeat, without which an interval is wider, or a point, which is missing then."""


Refused = Literal["", "generator", "system"]
"""Who is the cause that numbers are refused: a generator that was late, or a system that did not serve its load."""


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


class ImportedFile(Frozen):
    """A file that was imported: its name as given, and its digest at that time."""

    name: str
    sha256: str
    size: int


class Imported(Frozen):
    """Where the results of an imported run come from: the kind of file, and the source that states them.

    `licence` says how the numbers may be used. `statements` are what else the source says, in words. `told` are the
    versions and settings that it states, each a name and a text. `facts` are the names of the spec's facts that it
    states, None when unknown.
    """

    kind: str
    title: str
    publisher: str
    licence: str
    url: str = ""
    document: str = ""
    date: str = ""
    statements: tuple[str, ...] = ()
    told: tuple[tuple[str, str], ...] = ()
    facts: tuple[str, ...] | None = None
    files: tuple[ImportedFile, ...]


class HostsGiven(Record):
    """The nodes that a job of a scheduler has for hosts of the plan: what follows was measured on these.

    `nodes` is by host, `job` the scheduler's id of the job.
    """

    type: Literal["hosts_given"] = "hosts_given"
    job: str
    nodes: dict[str, str]


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


class PointChosen(Record):
    """The next point of an adaptive ramp, which its curves share: the `number`th of those that were tried.

    It follows from the verdicts of the cells before, and is kept as it was decided.
    """

    type: Literal["point_chosen"] = "point_chosen"
    experiment: str
    hardware: tuple[str, ...]
    workload: str
    axis: Literal["threads", "target"]
    point: float
    number: int
    why: Said

    @property
    def ramp(self) -> tuple[str, tuple[str, ...], str]:
        return self.experiment, self.hardware, self.workload


class RateJudged(Frozen):
    """How many runs at a rate kept a promise, broke it, were beyond the load generator, and failed; and how many of its
    good `held_out` runs, which do not count there, kept it, or were beyond the generator."""

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
    """What a search for a promise found on one hardware with one workload: see `compiler/searches/rate_search.py`.

    `above` is the next candidate, which breaks the promise, or with `by_generator` can't be offered. `sure`: both sides
    of the edge were decided with confidence, and not by the majority of all repeats or by held-out runs. `lowered`:
    held-out runs at higher rates broke the promise. Of the `held_out` runs at `rate` that have not failed, `held_met`
    kept the promise. It follows from the verdicts of the cells, and is kept as it was decided.
    """

    type: Literal["promise_ended"] = "promise_ended"
    experiment: str
    hardware: str
    workload: str
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
        """Whether all of the held-out runs kept the promise, and there are some."""
        return 0 < self.held_met == self.held_out

    @property
    def sustained(self) -> float | None:
        """The rate that keeps the promise, as far as the search shows; None where held-out runs contradict it."""
        return self.rate if self.kind in ("found", "at_least") and self.confirmed else None


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
    axis: Literal["threads", "target"]
    knee: float | None
    points: tuple[SearchPoint, ...]


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


class ExpectationsRead(Record):
    """With a budget, the expectations were read to choose a repeat, which took `seconds` of the budget of `cell`."""

    type: Literal["expectations_read"] = "expectations_read"
    cell: str
    seconds: float

"""The base of all journal records, what searches and adaptive ramps choose, and whose numbers an import has."""

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


class Failing(Frozen):
    """The share of jobs that fail on hosts whose names match the pattern (`db-*`)."""

    pattern: str
    share: float = Field(default=1.0, ge=0, le=1)


class Simulated(Frozen):
    """How a run is simulated: `errors` is the share of operations that fail."""

    seed: int = 0
    errors: float = Field(default=0.0, ge=0, le=1)
    failing: tuple[Failing, ...] = ()


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

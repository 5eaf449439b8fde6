"""The base of all journal records, and where a run's numbers come from when it measured none."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


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

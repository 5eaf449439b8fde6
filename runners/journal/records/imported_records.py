"""Records of results that were measured elsewhere."""

from __future__ import annotations

from typing import Literal

from benchbrief.runners.journal.records.record_base import Frozen, Record


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

"""The appendix on provenance in the view model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Backlink:
    """From a row of the appendix to where it is shown: a number in a text, or an element."""

    label: str
    anchor: str


@dataclass(frozen=True)
class SourceLine:
    """What is computed alike from the same cells; `measurements` name their lines.

    In a compact appendix, all `values` of a figure, a table, a box or a section's texts.
    """

    id: str
    number: int
    expressions: tuple[str, ...]
    measurements: tuple[Backlink, ...]
    links: tuple[Backlink, ...]
    values: int = 0
    quoted: bool = False
    """Whether its values are published ones."""


@dataclass(frozen=True)
class MeasurementLine:
    """A ramp on one hardware with one workload: its measured points, its runs, its raw outputs."""

    id: str
    name: str
    experiment: str
    hardware: str
    workload: str
    points: str
    run: str
    files: str


@dataclass(frozen=True)
class RawFile:
    cell: str
    path: str
    sha256: str


@dataclass(frozen=True)
class ProvenanceView:
    """The origin of the numbers. `files` are all raw outputs, for the HTML. Without an appendix, everything is
    empty."""

    origin: tuple[tuple[str, str], ...]
    sources: tuple[SourceLine, ...]
    measurements: tuple[MeasurementLine, ...]
    files: tuple[RawFile, ...]
    compact: bool = False
    places: Mapping[str, str] = field(default_factory=dict)
    """The line of each cell's measurement, for cells behind any number."""
    unlisted: str = ""
    """How many raw outputs are not in `files`, as they are too many for a page; "" for none."""

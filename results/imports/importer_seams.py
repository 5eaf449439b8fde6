"""The seams of imports: what an importer of each of the three sorts does. Its `spec.py` describes it.

Outputs of a tool belong to one cell each, logs of samples lie beside such outputs, and a table has the numbers of
many cells.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from benchbrief.model.measurement import Measurement, Sample
from benchbrief.model.plan import Cell, Plan
from benchbrief.results.imports.cell_matching import STDOUT, CellFiles, Options, Places, Where
from benchbrief.results.imports.import_problems import BadLine, Problem
from benchbrief.results.imports.keep_import import CellValue

if TYPE_CHECKING:
    from benchbrief.results.imports.keep_import import Prepared, Source


@dataclass(frozen=True)
class Setting:
    """A setting that an output prints, in its line: `text` in the tool's words, for messages."""

    line: int
    value: float | str
    text: str


@dataclass
class CellNumbers:
    """What a table says of one cell. `all_repeats`: it does not separate repeats."""

    cell: Cell
    all_repeats: bool = False
    values: list[CellValue] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class OutputImporter(ABC):
    """Reads finished outputs of a tool. An output of one file without settings needs only `read`."""

    @abstractmethod
    def read(self, files: Mapping[str, Path], benchmark: str, options: Options) -> Measurement:
        """Read the files of one cell and load generator, by the names under which they are kept.

        `benchmark` is the workload's, in its tool's words. Times are in epoch seconds where the files have them,
        else they begin at 0. Raises OutputProblem for files that do not prove a whole measurement.
        """

    def settings(self, path: Path) -> Mapping[str, Setting]:
        """Return how the tool was run: `threads`, `target`, and properties of the workload as a plan names them.

        An output that contradicts its cell is refused. Sizes are in bytes, shares from 0 to 1.
        """
        return {}

    def contradictions(self, path: Path, cell: Cell, plan: Plan) -> Iterator[Problem]:
        """Yield contradictions between an output and its cell, beside its settings and the mix of its operations."""
        return iter(())

    def kept_name(self, path: Path, said: Mapping[str, str]) -> str:
        """Return the name under which a file is kept: STDOUT for the output. `said` are its coordinates."""
        return STDOUT

    def may_repeat(self, name: str) -> bool:
        """Return whether the file kept under a name may have the same bytes as another cell's."""
        return False

    def outputs_of(self, path: Path, paths: Sequence[Path]) -> Sequence[Path]:
        """Return the given files that a file without coordinates may belong to."""
        return ()

    def complete(
        self, cells: Mapping[str, CellFiles], paths: Sequence[Path], places: Places, where: Where
    ) -> Iterator[Problem]:
        """Add files that belong to outputs and were not given. Yields the problems of these files."""
        return iter(())


class SampleImporter(ABC):
    """Reads a log of samples for a probe."""

    @abstractmethod
    def read(self, path: Path, node: str, window: tuple[float, float], device: str) -> Sequence[Sample]:
        """Return all samples in the order of their times, which are epoch seconds.

        A rate covers the `seconds` up to its time; a gauge has none. `device` is the probe's own, "" for none.
        `window` is the measured time, and only helps to understand times. Raises BadLog.
        """


class TableImporter(ABC):
    """Reads one file with the numbers of many cells."""

    @abstractmethod
    def prepare(
        self, path: Path, plan: Plan, given: Source, experiment: str = "", *, skip_bad: bool = False
    ) -> Prepared:
        """Return what an import would keep. `given` is the source from the command line.

        Raises ImportRefused with all problems, unless bad rows may be skipped and some are good.
        """

    @abstractmethod
    def numbers(self, path: Path, plan: Plan, experiment: str) -> Mapping[str, CellNumbers]:
        """Return the numbers of a kept file by the ids of their cells. Leaves out rows that the import left out.

        `experiment` is that of rows that do not name one. Raises ResultsError for a file that can't be read any more.
        """


class BadLog(BadLine):
    """A log can't be read."""

"""The interfaces of the three kinds of importers, and how importers are loaded.

An importer's `spec.py` describes the importer. Each output of a tool belongs to one cell, a log of samples accompanies
such outputs, and a table has the numbers of many cells.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

from benchbrief.compiler.registry import IMPORTER_SPECS
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.measurement import Measurement, Sample
from benchbrief.model.plan import Cell, Plan
from benchbrief.results.imports.cell_matching import STDOUT, CellFiles, Options, Places, Where
from benchbrief.results.imports.imported_files import BadLine, ImportProblem, why_packed
from benchbrief.results.imports.keep_import import CellValue
from benchbrief.results.store_errors import ResultsError
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.plugins import create, spec_of

if TYPE_CHECKING:
    from benchbrief.results.imports.keep_import import Prepared, StatedSource


@dataclass(frozen=True)
class Setting:
    """A setting that an output prints. `line` is the number of the line, and `text` is the tool's own wording, for
    messages."""

    line: int
    value: float | str
    text: str


@dataclass
class CellNumbers:
    """A table's numbers for one cell. With `all_repeats`, they are the numbers of all repeats together."""

    cell: Cell
    all_repeats: bool = False
    values: list[CellValue] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class OutputImporter(ABC):
    """The base class for importers of a tool's finished outputs. If an output is a single file without settings, only
    `read` must be implemented."""

    @abstractmethod
    def read(self, files: Mapping[str, Path], benchmark: str, options: Options) -> Measurement:
        """Read the files of one cell and load generator. `files` maps the names under which they are kept to their
        paths.

        `benchmark` is the tool's name for the workload. Times are in epoch seconds if the files have such times;
        otherwise they begin at 0. Raises OutputProblem for files that do not prove a complete measurement.
        """

    def settings(self, path: Path) -> Mapping[str, Setting]:
        """Return the tool's settings: `threads`, `target`, and properties of the workload under the plan's names.

        An output whose settings contradict its cell is refused. Sizes are in bytes, and shares are from 0 to 1.
        """
        return {}

    def contradictions(self, path: Path, cell: Cell, plan: Plan) -> Iterator[ImportProblem]:
        """Yield contradictions between an output and its cell, except those about settings or the mix of operations."""
        return iter(())

    def kept_name(self, path: Path, said: Mapping[str, str]) -> str:
        """Return the name under which to keep a file, which is STDOUT for the output itself. `said` are the file's
        coordinates."""
        return STDOUT

    def may_repeat(self, name: str) -> bool:
        """Return whether a file kept under this name may have the same bytes as another cell's file."""
        return False

    def outputs_of(self, path: Path, paths: Sequence[Path]) -> Sequence[Path]:
        """Return the given files that a file without coordinates may belong to."""
        return ()

    def complete(
        self, cells: Mapping[str, CellFiles], paths: Sequence[Path], places: Places, where: Where
    ) -> Iterator[ImportProblem]:
        """Add files that belong to the outputs but were not given. Yields the problems of the added files."""
        return iter(())


class SampleImporter(ABC):
    """The base class for importers of sample logs. A log's samples replace a probe's samples."""

    @abstractmethod
    def read(self, path: Path, node: str, window: tuple[float, float], device: str) -> Sequence[Sample]:
        """Return all samples in order of time, in epoch seconds. Raises BadLog.

        A rate covers the `seconds` before its time, and a gauge has no `seconds`. `device` is the probe's device, or ""
        if the probe has none. `window` is the measured time, which serves only to resolve ambiguous times.
        """


class TableImporter(ABC):
    """The base class for importers of a file with the numbers of many cells."""

    @abstractmethod
    def prepare(
        self, path: Path, plan: Plan, given: StatedSource, experiment: str = "", *, skip_bad: bool = False
    ) -> Prepared:
        """Return everything that an import would keep. `given` is the source named on the command line.

        Raises ImportRefused with all problems, unless `skip_bad` is set and at least one row can be imported.
        """

    @abstractmethod
    def numbers(self, path: Path, plan: Plan, experiment: str) -> Mapping[str, CellNumbers]:
        """Return the numbers in a kept file by cell id, without the rows that the import left out.

        Rows that name no experiment belong to `experiment`. Raises ResultsError if the file is no longer readable.
        """


class BadLog(BadLine):
    """Raised for a log that can't be read."""


SORTS: Mapping[str, type] = {"outputs": OutputImporter, "samples": SampleImporter, "tables": TableImporter}
"""The base class of each kind of importer. The keys are the values of `reads` in importers' specs."""


def output_importer(name: str) -> OutputImporter:
    """Return the importer of that name. Raises ResultsError if it does not read outputs, and RunnerError if it can't be
    loaded."""
    return cast(OutputImporter, _load(name, "outputs"))


def sample_importer(name: str) -> SampleImporter:
    """Return the importer of that name. Raises ResultsError if it does not read sample logs, and RunnerError if it
    can't be loaded."""
    return cast(SampleImporter, _load(name, "samples"))


def table_importer(name: str) -> TableImporter:
    """Return the importer of that name. Raises ResultsError if it does not read tables, and RunnerError if it can't be
    loaded."""
    return cast(TableImporter, _load(name, "tables"))


def _load(name: str, reads: str) -> object:
    spec = spec_of(IMPORTER_SPECS, name)
    if spec.reads != reads:
        raise ResultsError(
            f"the importer `{name}` can't be used here: its {spec.implementation} is no {SORTS[reads].__name__}",
            f"it reads {spec.reads}: `bench import --help` says where each is given",
        )
    return create(IMPORTER_SPECS, name, SORTS[reads])


def read_output(kind: str, files: Mapping[str, Path], benchmark: str, options: Options | None = None) -> Measurement:
    """Read an output with the importer `kind`. Raises OutputProblem, RunnerError.

    `files` maps the names under which files are kept to their paths. `benchmark` is the tool's name for the workload.
    """
    return output_importer(kind).read(files, benchmark, options or {})


def read_samples(kind: str, path: Path, node: str, window: tuple[float, float], device: str = "") -> tuple[Sample, ...]:
    """Return the samples inside a window of epoch seconds. If the probe has a `device`, other devices' samples are left
    out.

    Raises BadLog if the file is of another kind or from another time, or if the intended device or day is unclear.
    """
    if (problem := why_packed(path)) is not None:
        raise BadLog(None, str(problem), problem.hint)
    try:
        found = sample_importer(kind).read(path, node, window, device)
    except BadOutput as error:
        raise BadLog(None, str(error)) from error
    start, end = window
    if found and not any(start <= each.time <= end for each in found):
        spans = [(found[0].time, found[-1].time), window]
        log, measured = (
            " to ".join(f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}" for at in span) for span in spans
        )
        hint = "is it in local time? run it with TZ=UTC, or write its times with their zone (2026-11-21T17:01:02+0900)"
        raise BadLog(None, f"nothing of it lies in the measured time: it is from {log} UTC, and that {measured}", hint)
    _refuse_steps(found, window)
    inside = []
    for each in found:
        # A rate covers the interval up to its time. A gauge, with no seconds, is read at its time.
        began, ended = max(each.time - each.seconds, start), min(each.time, end)
        if ended > began or (not each.seconds and start <= each.time <= end):
            seconds = ended - began if each.seconds else 0.0
            inside.append(each._replace(time=ended - start, seconds=seconds))
    return tuple(inside)


def _refuse_steps(found: Sequence[Sample], window: tuple[float, float]) -> None:
    """Raise BadLog if times in the window go backwards (as when a clock is set), or if a time has two values."""
    last: dict[tuple[str, str, str], Sample] = {}
    for each in found:
        of = each.measure, each.node, each.device
        before = last.setdefault(of, each)
        last[of] = each
        if each.time > window[1] or before.time < window[0]:
            continue
        if each.time < before.time:
            raise BadLog(None, f"its times go back by {before.time - each.time:g} s: when it was read is not known")
        if each.time == before.time and each.value != before.value and not each.seconds:
            raise BadLog(None, f"two readings of one time: {before.value:g} and {each.value:g} {each.unit}".rstrip())

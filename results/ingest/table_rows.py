"""The rows of a cell whose numbers come from a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchbrief.compiler.measure_catalogue import KINDS
from benchbrief.compiler.units import base_unit
from benchbrief.results.imports.import_manifest import CellValue, read_manifest
from benchbrief.results.imports.importer_seams import CellNumbers, TableImporter
from benchbrief.results.ingest.cell_measurement import Measured
from benchbrief.results.ingest.cell_rows import cell_row, cell_rows, file_rows
from benchbrief.results.ingest.cell_verdicts import Verdict
from benchbrief.results.ingest.run_evidence import Evidence, Problem, check_files, first_problem
from benchbrief.results.kept_jobs import MEASURE, SOURCE
from benchbrief.results.messages.result_messages import say
from benchbrief.results.store.sample_table import SampleRow
from benchbrief.results.store.store_schema import (
    LatencyRow,
    NoteRow,
    Row,
    ThroughputRow,
)

PUBLISHED = "published"
"""The origin of a latency from a table. It can't be merged with others."""


class TableRows:
    """Makes the rows of a run whose numbers come from tables. Reads each table once."""

    def __init__(self, evidence: Evidence, importer: TableImporter) -> None:
        self._evidence, self._importer = evidence, importer
        self._read: dict[tuple[str, str], Mapping[str, CellNumbers]] = {}

    def point_rows(self, verdicts: Sequence[Verdict]) -> Iterator[Row]:
        """Yield the rows of all repeats of a point. Raises ResultsError for a table that can't be read any more."""
        evidence = self._evidence
        cells: list[tuple[Verdict, CellNumbers]] = []
        for verdict in verdicts:
            if verdict.status != "ok":
                yield from cell_rows(evidence, verdict)[1]
                continue
            problems: dict[str, Problem | None] = {}
            for job in verdict.jobs:
                problems |= check_files(evidence.root, job)
            problem = first_problem(problems.values())
            yield cell_row(evidence, verdict, Measured({}, problem))
            yield from file_rows(evidence.run_id, verdict, problems)
            if problem:
                yield NoteRow(evidence.run_id, verdict.cell.id, "error", problem, str(verdict.cell.origin))
                yield ThroughputRow(evidence.run_id, verdict.cell.id, None, "all", None, None, None, None, problem)
                continue
            numbers = self._numbers(verdict).get(verdict.cell.id, CellNumbers(verdict.cell))
            cells.append((verdict, numbers))
            yield from _cell(evidence.run_id, verdict, numbers)
        for verdict, numbers in cells:
            yield from _latencies(evidence.run_id, verdict, numbers, alone=len(cells) == 1)

    def _numbers(self, verdict: Verdict) -> Mapping[str, CellNumbers]:
        """Return the numbers of the table that a cell's are in."""
        evidence = self._evidence
        (directory,) = (job.directory for job in verdict.jobs if job.job == MEASURE)
        experiment = read_manifest(evidence.run_dir / directory, evidence.made_by).experiment
        ((folder, name),) = ((job.directory, name) for job in verdict.jobs if job.job == SOURCE for name in job.files)
        if (name, experiment) not in self._read:
            path = evidence.run_dir / folder / name
            self._read[name, experiment] = self._importer.numbers(path, evidence.plan, experiment)
        return self._read[name, experiment]


def _cell(run_id: str, verdict: Verdict, cell: CellNumbers) -> Iterator[Row]:
    cell_id = verdict.cell.id
    whole = False
    for value in cell.values:
        kind = KINDS[value.measure]
        if kind.view == "throughput":
            whole |= value.phase is None and not value.operation
            operation = value.operation or "all"
            yield ThroughputRow(run_id, cell_id, value.phase, operation, value.value, None, None, None, None)
        elif kind.view == "sample":
            unit = base_unit(kind.unit)
            yield SampleRow(run_id, cell_id, kind.sampled_as, value.node, "", 0.0, value.value, unit)
    if not whole:
        reason = say.no_throughput_imported()
        yield ThroughputRow(run_id, cell_id, None, "all", None, None, None, None, reason)
    for text in dict.fromkeys(cell.notes):
        yield NoteRow(run_id, cell_id, "info", text, "import")


def _latencies(run_id: str, verdict: Verdict, cell: CellNumbers, *, alone: bool) -> Iterator[LatencyRow]:
    """Yield the published latencies for the repeat, and for all repeats together only when there is no other."""
    for value in cell.values:
        if KINDS[value.measure].view == "latency":
            yield _latency(run_id, verdict, value, verdict.cell.repeat, value.value, None)
            if alone:
                yield _latency(run_id, verdict, value, None, value.value, None)
            elif verdict.cell.repeat == 1:
                yield _latency(run_id, verdict, value, None, None, say.unmergeable())


def _latency(
    run_id: str, verdict: Verdict, value: CellValue, repeat: int | None, seconds: float | None, reason: str | None
) -> LatencyRow:
    cell = verdict.cell
    place = (run_id, cell.experiment, cell.hardware, cell.workload, cell.threads, cell.target)
    statistic = KINDS[value.measure].statistic
    of = (value.phase, repeat, None, value.operation, "service", statistic)
    return LatencyRow(*place, *of, seconds, PUBLISHED, 1, reason)

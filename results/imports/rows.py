"""The rows of an imported run that a measured one has not, and those of a cell whose numbers are a table's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchbrief.compiler.metrics.measures import KINDS
from benchbrief.compiler.units import base_unit
from benchbrief.results.cell_rows import cell_row, cell_rows, file_rows
from benchbrief.results.errors import ResultsError
from benchbrief.results.evidence import Evidence, Problem, check_files, first_problem
from benchbrief.results.imports.manifest import SOURCE, CellValue, read_manifest
from benchbrief.results.imports.problems import Problem as TableProblem
from benchbrief.results.imports.table import OfCell, Table, read_table
from benchbrief.results.latency import UNMERGEABLE
from benchbrief.results.measured import MEASURE, Measured
from benchbrief.results.schema import (
    LatencyRow,
    NoteRow,
    PublishedRow,
    Row,
    SampleRow,
    SourceRow,
    ThroughputRow,
)
from benchbrief.results.verdicts import Verdict

PUBLISHED = "published"
"""The origin of a latency that a table tells: it can't be merged with others."""


def origin_of(evidence: Evidence) -> str:
    """measured | simulated | imported"""
    return "imported" if evidence.imported else "simulated" if evidence.simulated else "measured"


def source_rows(evidence: Evidence) -> Iterator[Row]:
    run_id, source = evidence.run_id, evidence.imported
    if source is None:
        return
    for file in source.files:
        yield SourceRow(
            run_id,
            source.kind,
            source.title,
            source.publisher,
            source.url or None,
            source.document or None,
            source.date or None,
            source.licence,
            file.name,
            file.sha256,
            file.size,
        )
    for text in source.statements:
        yield NoteRow(run_id, None, "info", f"the source says: {text}", source.title)
    for each in evidence.told.published:
        keys = each.keys
        yield PublishedRow(
            run_id,
            each.metric,
            each.bound,
            str(keys["experiment"]) if "experiment" in keys else None,
            str(keys["hardware"]) if "hardware" in keys else None,
            str(keys["workload"]) if "workload" in keys else None,
            int(keys["threads"]) if "threads" in keys else None,
            float(keys["target"]) if "target" in keys else None,
            int(keys["phase"]) if "phase" in keys else None,
            each.value,
            each.unit,
            each.origin,
        )


def table_rows(evidence: Evidence, verdicts: Sequence[Verdict]) -> Iterator[Row]:
    """Of all repeats of a point, read anew from the table that was kept."""
    told: list[tuple[Verdict, OfCell]] = []
    read: dict[tuple[str, str], Table] = {}
    for verdict in verdicts:
        if verdict.status != "ok":
            yield from cell_rows(evidence, verdict)[1]
            continue
        problems: dict[str, Problem | None] = {}
        for job in verdict.jobs:
            problems |= check_files(evidence.run_dir, job)
        problem = first_problem(problems.values())
        yield cell_row(evidence, verdict, Measured({}, problem))
        yield from file_rows(evidence.run_id, verdict, problems)
        if problem:
            yield NoteRow(evidence.run_id, verdict.cell.id, "error", problem, str(verdict.cell.origin))
            yield ThroughputRow(evidence.run_id, verdict.cell.id, None, "all", None, None, None, None, problem)
            continue
        kept = _table(evidence, verdict, read)
        of = kept.cells.get(verdict.cell.id, OfCell(verdict.cell, all_repeats=False))
        told.append((verdict, of))
        yield from _cell(evidence.run_id, verdict, of)
    for verdict, of in told:
        yield from _latencies(evidence.run_id, verdict, of, alone=len(told) == 1)


def _table(evidence: Evidence, verdict: Verdict, read: dict[tuple[str, str], Table]) -> Table:
    """The one that a cell's numbers are from; `read` are those of other cells."""
    (directory,) = (job.directory for job in verdict.jobs if job.job == MEASURE)
    experiment = read_manifest(evidence.run_dir / directory, evidence.made_by).experiment
    ((folder, name),) = ((job.directory, name) for job in verdict.jobs if job.job == SOURCE for name in job.files)
    if (name, experiment) not in read:
        problems: list[TableProblem] = []
        table = read_table(evidence.run_dir / folder / name, evidence.plan, experiment, problems)
        # What is wrong with a row was told when it was imported, and the row left out.
        if whole := [problem for problem in problems if problem.line not in table.bad_lines]:
            raise ResultsError(f"an imported table can't be read any more: {whole[0]}", "import it again")
        read[name, experiment] = table
    return read[name, experiment]


def _cell(run_id: str, verdict: Verdict, told: OfCell) -> Iterator[Row]:
    cell_id = verdict.cell.id
    whole = False
    for value in told.values:
        kind = KINDS[value.measure]
        if kind.view == "throughput":
            whole |= value.phase is None and not value.operation
            operation = value.operation or "all"
            yield ThroughputRow(run_id, cell_id, value.phase, operation, value.value, None, None, None, None)
        elif kind.view == "sample":
            unit = base_unit(kind.unit)
            yield SampleRow(run_id, cell_id, kind.sampled_as, value.node, "", 0.0, value.value, unit)
    if not whole:
        reason = "its throughput is not in what was imported"
        yield ThroughputRow(run_id, cell_id, None, "all", None, None, None, None, reason)
    for text in dict.fromkeys(told.notes):
        yield NoteRow(run_id, cell_id, "info", text, "import")


def _latencies(run_id: str, verdict: Verdict, told: OfCell, *, alone: bool) -> Iterator[LatencyRow]:
    """As published, for the repeat; for all repeats together only where there is no other."""
    for value in told.values:
        if KINDS[value.measure].view == "latency":
            yield _latency(run_id, verdict, value, verdict.cell.repeat, value.value, None)
            if alone:
                yield _latency(run_id, verdict, value, None, value.value, None)
            elif verdict.cell.repeat == 1:
                yield _latency(run_id, verdict, value, None, None, UNMERGEABLE)


def _latency(
    run_id: str, verdict: Verdict, value: CellValue, repeat: int | None, seconds: float | None, reason: str | None
) -> LatencyRow:
    cell = verdict.cell
    return LatencyRow(
        run_id,
        cell.experiment,
        cell.hardware,
        cell.workload,
        cell.threads,
        cell.target,
        value.phase,
        repeat,
        None,
        value.operation,
        "service",
        KINDS[value.measure].statistic,
        seconds,
        PUBLISHED,
        1,
        reason,
    )

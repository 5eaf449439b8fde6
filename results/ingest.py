"""A run's directory -> typed rows, by parsing the raw outputs again: the journal and those are the truth.

Only the attempt that a cell's last verdict calls good gives measurements. A raw file that is gone, or is not what it
was when it was kept, takes the numbers read from it along.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from benchbrief.compiler.plan import Cell, Fact, Knee, Quantity
from benchbrief.results.cell_rows import cell_rows
from benchbrief.results.evidence import Evidence
from benchbrief.results.imports.manifest import TABLE
from benchbrief.results.imports.rows import origin_of, source_rows, table_rows
from benchbrief.results.latency import Statistic, statistics
from benchbrief.results.measured import Measured
from benchbrief.results.schema import FactRow, LatencyRow, NoteRow, Row, RunRow, SearchRow, utc
from benchbrief.results.verdicts import Verdict
from benchbrief.runners.measurement import Operation
from benchbrief.runners.rundir import revision_in


def ingest(evidence: Evidence) -> Iterator[Row]:
    """Every row of the store. Cells come point by point, so that only the repeats of one point are held at a time."""
    yield _run_row(evidence)
    yield from source_rows(evidence)
    yield from _fact_rows(evidence)
    yield from _note_rows(evidence)
    yield from _search_rows(evidence)
    points: dict[tuple[object, ...], list[Verdict]] = {}
    for verdict in evidence.verdicts:
        points.setdefault(_point(verdict.cell), []).append(verdict)
    for verdicts in points.values():
        if evidence.imported and evidence.imported.kind == TABLE:
            yield from table_rows(evidence, verdicts)
            continue
        repeats = []
        for verdict in verdicts:
            # A copy, so that what it reads of the journal goes with it.
            measured, rows = cell_rows(evidence, replace(verdict))
            yield from rows
            if measured.sources:
                repeats.append((verdict.cell, measured))
        if repeats:
            needed = sum(verdict.status != "skipped" for verdict in verdicts)
            yield from _latency_rows(evidence.run_id, repeats, planned=needed)


def _point(cell: Cell) -> tuple[object, ...]:
    """What the repeats of a cell have in common."""
    return (cell.experiment, cell.hardware, cell.database, cell.workload, cell.threads, cell.target)


def _search_rows(evidence: Evidence) -> Iterator[SearchRow]:
    for experiment in evidence.plan.experiments.values():
        search = experiment.search
        if search is None:
            continue
        for hardware, workload in product(experiment.hardware, experiment.workloads):
            key = Knee(experiment=experiment.name, hardware=hardware, workload=workload)
            knee = evidence.knees.get(key)
            none = "no knee up to the last point" if key in evidence.knees else "the search did not come to its end"
            yield SearchRow(
                evidence.run_id,
                experiment.name,
                hardware,
                workload,
                experiment.axis,
                search.latency,
                search.rise,
                search.gain,
                knee,
                none if knee is None else None,
            )


def _run_row(evidence: Evidence) -> RunRow:
    plan, end = evidence.plan, evidence.end
    first = evidence.starts[0] if evidence.starts else None
    return RunRow(
        run_id=evidence.run_id,
        spec=plan.spec.name,
        profile=plan.spec.profile,
        plan_version=plan.version,
        benchbrief=evidence.starts[-1].benchbrief if evidence.starts else None,
        started_at=utc(first.at if first else None),
        ended_at=utc(end.at if end else None),
        status=end.status if end else "unfinished",
        message=end.message if end else None,
        simulated=evidence.simulated is not None,
        origin=origin_of(evidence),
    )


def _note_rows(evidence: Evidence) -> Iterator[NoteRow]:
    run_id = evidence.run_id
    remarks = {(r.severity, r.text, r.origin) for r in evidence.remarks.get(None, ())}
    for severity, text, origin in sorted(remarks):
        yield NoteRow(run_id, None, severity, text, origin)
    if evidence.torn:
        text = "the journal ends in half a record, which was left out: its writer was cut off"
        yield NoteRow(run_id, None, "warning", text, "journal.jsonl")
    if evidence.starts and evidence.starts[0].plan_sha256 != evidence.plan_sha256:
        text = "plan.json was changed after the run began: the numbers may belong to other cells than it says"
        yield NoteRow(run_id, None, "error", text, "plan.json")
    if text := _later_attempts(evidence.verdicts):
        yield NoteRow(run_id, None, "info", text, "journal.jsonl")
    for cell in evidence.strangers():
        text = f"the journal has a cell that is not in the plan, and was left out: {cell}"
        yield NoteRow(run_id, None, "error", text, "journal.jsonl")


_NAMED = 10
"""More cells than these are told by their number."""


def _later_attempts(verdicts: Sequence[Verdict]) -> str:
    """Which cells are good by another attempt than their first, also after `bench resume`; "" for none."""
    later = [(v.cell.id, v.attempt) for v in verdicts if v.status == "ok" and v.attempt and v.attempt > 1]
    if not later:
        return ""
    named = ", ".join(f"{cell} (attempt {attempt})" for cell, attempt in later[:_NAMED])
    more = f", and {len(later) - _NAMED} more" if len(later) > _NAMED else ""
    return f"earlier attempts failed, or were interrupted, of measurements that are good now: {named}{more}"


def _fact_rows(evidence: Evidence) -> Iterator[FactRow]:
    """Declared facts of every group, then what was last observed of each host, server and tool."""
    plan, run_id = evidence.plan, evidence.run_id
    for key, hardware in plan.hardware.items():
        yield FactRow(run_id, "hardware", key, None, "nodes", str(hardware.nodes), "nodes", "declared")
        for name, fact in hardware.facts.items():
            value, unit = _declared(fact)
            yield FactRow(run_id, "hardware", key, None, name, value, unit, "declared")
    groups: dict[str, list[str]] = {}
    for key, hardware in plan.hardware.items():
        for name in hardware.hosts:
            groups.setdefault(name, []).append(key)
    for host in evidence.told.hosts.values():
        for group in groups.get(host.host) or (None,):
            for name, value in host.facts.items():
                yield FactRow(run_id, "host", group, host.host, name, value, None, "observed")
    for engine in evidence.told.engines.values():
        group = engine.database.rpartition("@")[2]
        for name, value in engine.facts.items():
            yield FactRow(run_id, "database", group, engine.database, name, value, None, "observed")
    for name, value in revision_in(evidence.run_dir).items():
        yield FactRow(run_id, "spec", None, None, name, value, None, "observed")
    for tool in evidence.tools.values():
        for name, value in (("path", tool.path), ("version", tool.version)):
            if value:
                yield FactRow(run_id, "tool", None, tool.host, f"{tool.driver}.{name}", value, None, "observed")


def _declared(fact: Fact) -> tuple[str, str | None]:
    if isinstance(fact, Quantity):
        return f"{fact.value:.15g}", fact.unit
    return (str(fact).lower() if isinstance(fact, bool) else fact), None


# --- latencies of a point ----------------------------------------------------------------------------------------


def _latency_rows(run_id: str, repeats: Sequence[tuple[Cell, Measured]], planned: int) -> Iterator[LatencyRow]:
    """For each operation: each load generator (where there are several), each repeat, and all repeats together.

    All together is missing when fewer than the `planned` repeats (those that were needed) were measured: the merge of
    some is not the point's.
    """
    found: dict[tuple[int | None, str, str], dict[int, dict[str, Operation]]] = {}
    for cell, measured in repeats:
        for source, measurement in measured.sources.items():
            for op in measurement.operations:
                of_repeat = found.setdefault((op.phase, op.operation, op.kind), {}).setdefault(cell.repeat, {})
                of_repeat[source] = op
    cell = repeats[0][0]
    from_due = {operation for _, operation, kind in found if kind == "intended"}
    for (phase, operation, kind), by_repeat in found.items():
        reported = kind == "intended" or operation not in from_due
        distributions: list[tuple[int | None, str | None, list[Operation]]] = []
        for repeat, by_source in by_repeat.items():
            if len(by_source) > 1:
                distributions += [(repeat, source, [op]) for source, op in by_source.items()]
            distributions.append((repeat, None, list(by_source.values())))
        distributions.append((None, None, [op for by_source in by_repeat.values() for op in by_source.values()]))
        known: dict[tuple[int, ...], list[Statistic]] = {}
        for at_repeat, at_source, ops in distributions:
            # A single repeat, or load generator, is the same as all of them together.
            same = tuple(map(id, ops))
            if same not in known:
                known[same] = statistics(ops)
            some = f"{len(repeats)} of {planned} repeats were measured" if len(repeats) < planned else ""
            for each in known[same]:
                statistic = replace(each, value_s=None, reason=some) if some and at_repeat is None else each
                yield LatencyRow(
                    run_id,
                    cell.experiment,
                    cell.hardware,
                    cell.workload,
                    cell.threads,
                    cell.target,
                    phase,
                    at_repeat,
                    at_source,
                    operation,
                    kind,
                    statistic.name,
                    statistic.value_s,
                    statistic.origin,
                    len(ops),
                    statistic.reason,
                    reported,
                )

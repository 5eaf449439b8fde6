"""Converts a run's directory to typed rows, by parsing the journal and the raw outputs, which are the source of truth.

Only the attempt that a cell's last verdict calls good gives measurements. If a raw file is missing or was changed, the
numbers from that file are missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from benchbrief.compiler.measure_catalogue import KINDS
from benchbrief.compiler.registry import IMPORTER_SPECS
from benchbrief.model import events as j
from benchbrief.model.events import MEASURE, SOURCE
from benchbrief.model.measurement import Operation
from benchbrief.model.message import joined
from benchbrief.model.plan import Cell, Experiment, Fact, Knee, Levels, Plan, Promise, Quantity, key_text
from benchbrief.model.points import Curve
from benchbrief.model.rate_search import CONFIDENCE
from benchbrief.model.units import base_unit, parse_unit
from benchbrief.results.analysis.promised_rates import Promised, RateRuns
from benchbrief.results.imports.importer_seams import CellNumbers, TableImporter, table_importer
from benchbrief.results.imports.keep_import import CellValue, read_manifest
from benchbrief.results.ingest.cell_measurement import CellMeasurement
from benchbrief.results.ingest.cell_rows import cell_row, cell_rows, file_rows
from benchbrief.results.ingest.latency_rows import Statistic, statistics
from benchbrief.results.ingest.run_evidence import CellVerdict, Evidence, Problem, check_files, first_problem
from benchbrief.results.result_messages import say
from benchbrief.results.store.store_schema import (
    FactorRow,
    FactRow,
    LatencyRow,
    MetricRow,
    NoteRow,
    PromiseRow,
    PublishedRow,
    RateRow,
    Row,
    RunRow,
    SampleRow,
    SearchRow,
    SourceRow,
    ThroughputRow,
    utc,
)
from benchbrief.runners.journal.run_folder import revision_in
from benchbrief.runners.plugins import spec_of
from benchbrief.runners.scheduling.promise_search import bounds_of, warning_of


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
        yield NoteRow(run_id, None, "info", say.source_says(said=text), source.title)
    for text in source.limits:
        yield FactRow(run_id, "source limit", None, None, text, "", None, "told")
    for name, text in source.told:
        yield FactRow(run_id, "source", None, None, name, text, None, "told")
    for name in source.facts or ():
        yield FactRow(run_id, "source fact", None, None, name, "", None, "told")
    for each in evidence.record.published:
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
            Levels.of({factor: keys[factor] for factor in evidence.plan.factors if factor in keys}),
        )


def promise_rows(evidence: Evidence) -> Iterator[PromiseRow | RateRow]:
    for key, experiment, promise in _searches(evidence):
        ended = evidence.record.promises.get(key)
        yield _row(evidence, key, promise, experiment.points, ended)
        for each in ended.rates if ended else ():
            place = (evidence.run_id, *Curve.of(key), each.rate)
            yield RateRow(*place, *_runs(each))


def promised(ended: j.PromiseEnded, plan: Plan) -> Promised:
    """Return the result of a search for a promise in the form that reports read."""
    rates = plan.experiments[ended.experiment].points
    kept_to, broken_from = bounds_of(ended, rates)
    return Promised(
        ended.experiment,
        ended.hardware,
        ended.workload,
        ended.levels,
        ended.sustained,
        ended.kind,
        ended.by_generator,
        ended.sure,
        ended.held_met,
        ended.held_out,
        warning_of(rates[0], ended) if ended.sustained is None else "",
        kept_to,
        broken_from,
        tuple(
            RateRuns(each.rate, each.met, each.broken, each.beyond, each.held_met, each.held_out, each.held_beyond)
            for each in ended.rates
        ),
    )


def _searches(evidence: Evidence) -> Iterator[tuple[Knee, Experiment, Promise]]:
    for experiment in evidence.plan.experiments.values():
        if experiment.promise is not None:
            for curve in Curve.all_of(experiment):
                yield Knee(**curve._asdict()), experiment, experiment.promise


def _runs(rate: j.RateJudged) -> tuple[int, ...]:
    return rate.met, rate.broken, rate.beyond, rate.failed, rate.held_met, rate.held_out, rate.held_beyond


def _row(
    evidence: Evidence, key: Knee, promise: Promise, rates: tuple[float, ...], ended: j.PromiseEnded | None
) -> PromiseRow:
    unknown = say.rate_imported() if evidence.imported else say.rate_unended()
    sustained = ended.sustained if ended else None
    kept_to, broken_from = bounds_of(ended, rates) if ended else (None, None)
    reason = (warning_of(rates[0], ended) if ended else unknown) if sustained is None else None
    return PromiseRow(
        evidence.run_id,
        *Curve.of(key),
        promise.text,
        promise.within,
        CONFIDENCE,
        ended.kind if ended else None,
        sustained,
        ended.rate if ended else None,
        ended.above if ended else None,
        bool(ended and ended.by_generator),
        bool(ended and ended.sure),
        kept_to,
        broken_from,
        ended.held_met if ended else 0,
        ended.held_out if ended else 0,
        reason,
    )


PUBLISHED = "published"
"""The origin of latencies that come from a table. They have no histogram, so they can't be merged with others."""


class TableRows:
    """Makes the rows of a run with numbers from tables. Each table is read only once."""

    def __init__(self, evidence: Evidence, importer: TableImporter) -> None:
        self._evidence, self._importer = evidence, importer
        self._read: dict[tuple[str, str], Mapping[str, CellNumbers]] = {}

    def point_rows(self, verdicts: Sequence[CellVerdict]) -> Iterator[Row]:
        """Yield the rows of all repeats of a point. Raises ResultsError for a table that is no longer readable."""
        evidence = self._evidence
        cells: list[tuple[CellVerdict, CellNumbers]] = []
        for verdict in verdicts:
            if verdict.status != "ok":
                yield from cell_rows(evidence, verdict)[1]
                continue
            problems: dict[str, Problem | None] = {}
            for job in verdict.jobs:
                problems |= check_files(evidence.root, job)
            problem = first_problem(problems.values())
            yield cell_row(evidence, verdict, CellMeasurement({}, problem))
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

    def _numbers(self, verdict: CellVerdict) -> Mapping[str, CellNumbers]:
        """Return the numbers of the table that contains this cell, by cell id."""
        evidence = self._evidence
        (directory,) = (job.directory for job in verdict.jobs if job.job == MEASURE)
        experiment = read_manifest(evidence.run_dir / directory, evidence.made_by).experiment
        ((folder, name),) = ((job.directory, name) for job in verdict.jobs if job.job == SOURCE for name in job.files)
        if (name, experiment) not in self._read:
            path = evidence.run_dir / folder / name
            self._read[name, experiment] = self._importer.numbers(path, evidence.plan, experiment)
        return self._read[name, experiment]


def _cell(run_id: str, verdict: CellVerdict, cell: CellNumbers) -> Iterator[Row]:
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


def _latencies(run_id: str, verdict: CellVerdict, cell: CellNumbers, *, alone: bool) -> Iterator[LatencyRow]:
    """Yield the published latencies of the repeat, and the latencies of all repeats together. If there are several
    repeats, the latencies of all together have no value."""
    for value in cell.values:
        if KINDS[value.measure].view == "latency":
            yield _latency(run_id, verdict, value, verdict.cell.repeat, value.value, None)
            if alone:
                yield _latency(run_id, verdict, value, None, value.value, None)
            elif verdict.cell.repeat == 1:
                yield _latency(run_id, verdict, value, None, None, say.unmergeable())


def _latency(
    run_id: str, verdict: CellVerdict, value: CellValue, repeat: int | None, seconds: float | None, reason: str | None
) -> LatencyRow:
    cell = verdict.cell
    place = (run_id, *Curve.of(cell), cell.threads, cell.target)
    statistic = KINDS[value.measure].statistic
    of = (value.phase, repeat, None, value.operation, "service", statistic)
    return LatencyRow(*place, *of, seconds, PUBLISHED, 1, reason)


def ingest(evidence: Evidence) -> Iterator[Row]:
    """Yield all rows of the store point by point, to hold only one point's repeats in memory."""
    yield run_row(evidence)
    yield from factor_rows(evidence)
    yield from source_rows(evidence)
    yield from _fact_rows(evidence)
    yield from _note_rows(evidence)
    yield from _search_rows(evidence)
    yield from promise_rows(evidence)
    yield from _metric_rows(evidence)
    importer = _table_importer(evidence)
    table = TableRows(evidence, importer) if importer else None
    for verdicts in by_point(evidence.verdicts).values():
        yield from table.point_rows(verdicts) if table else point_rows(evidence, verdicts)


def by_point(verdicts: Iterable[CellVerdict]) -> dict[tuple[object, ...], list[CellVerdict]]:
    """Return the verdicts grouped by point, so that all repeats of a point are together."""
    points: dict[tuple[object, ...], list[CellVerdict]] = {}
    for verdict in verdicts:
        points.setdefault(_point(verdict.cell), []).append(verdict)
    return points


def point_rows(evidence: Evidence, verdicts: Sequence[CellVerdict]) -> Iterator[Row]:
    """Yield the rows of one point's cells, for a run that measured them."""
    repeats = []
    verdicts = _as_asked_for(evidence, verdicts)
    for verdict in verdicts:
        # A copy, so that the records that it reads from the journal are freed with it.
        measured, rows = cell_rows(evidence, replace(verdict))
        yield from rows
        if measured.sources:
            repeats.append((verdict.cell, measured))
    if repeats:
        needed = sum(verdict.status != "skipped" for verdict in verdicts)
        yield from _latency_rows(evidence.run_id, repeats, planned=needed)


def _as_asked_for(evidence: Evidence, verdicts: Sequence[CellVerdict]) -> Sequence[CellVerdict]:
    """Return the verdicts. Cells that an unfinished search or adaptive ramp has not asked for yet are marked as not
    needed.

    Their point then lacks no measurement, so the cells that have been measured there so far have values.
    """
    of = evidence.plan.experiments[verdicts[0].cell.experiment]
    if not (of.promise or of.search or of.adaptive):
        return verdicts
    any_good = any(verdict.status == "ok" for verdict in verdicts)
    return [
        replace(verdict, status="skipped")
        if verdict.status == "missing" and not verdict.no_room and (any_good or verdict.attempt is None)
        else verdict
        for verdict in verdicts
    ]


def _table_importer(evidence: Evidence) -> TableImporter | None:
    """Return the importer of a run whose numbers come from tables, or None for other runs. Raises RunnerError."""
    kind = evidence.imported.kind if evidence.imported else ""
    tables = kind and spec_of(IMPORTER_SPECS, kind).reads == "tables"
    return table_importer(kind) if tables else None


def _metric_rows(evidence: Evidence) -> Iterator[MetricRow]:
    for metric in evidence.plan.metrics:
        query = metric.query
        of = ", ".join(query.dims)
        label, better = metric.label, metric.better
        yield MetricRow(evidence.run_id, metric.name, label, query.unit, better, of, query.text, query.sql)


def _point(cell: Cell) -> tuple[object, ...]:
    """Return the values of the columns that all repeats of a cell share."""
    return (cell.experiment, cell.hardware, cell.database, cell.workload, cell.levels, cell.threads, cell.target)


def _search_rows(evidence: Evidence) -> Iterator[SearchRow]:
    for experiment in evidence.plan.experiments.values():
        search = experiment.search
        if search is None:
            continue
        for curve in Curve.all_of(experiment):
            key = Knee(**curve._asdict())
            knee = evidence.record.knees.get(key)
            none = say.no_knee_in_search() if key in evidence.record.knees else say.search_unended()
            if evidence.imported:
                none = say.search_imported()
            yield SearchRow(
                evidence.run_id,
                *curve,
                experiment.axis,
                search.latency,
                search.rise,
                search.gain,
                knee,
                none if knee is None else None,
            )


def run_row(evidence: Evidence) -> RunRow:
    plan, end = evidence.plan, evidence.record.end
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
        origin=evidence.origin,
    )


def factor_rows(evidence: Evidence) -> Iterator[FactorRow]:
    for factor in evidence.plan.factors.values():
        unit = None if factor.unit is None else base_unit(parse_unit(factor.unit).dimension)
        for level in factor.levels:
            number = None if isinstance(level.key, str) else level.key
            yield FactorRow(evidence.run_id, factor.name, factor.label, key_text(level.key), level.label, number, unit)


def _note_rows(evidence: Evidence) -> Iterator[NoteRow]:
    run_id = evidence.run_id
    remarks = {(r.severity, r.text, r.origin) for r in evidence.record.remarks.get(None, ())}
    for severity, text, origin in sorted(remarks):
        yield NoteRow(run_id, None, severity, text, origin)
    if evidence.torn:
        yield NoteRow(run_id, None, "warning", say.half_record(), "journal.jsonl")
    if text := _later_attempts(evidence.verdicts):
        yield NoteRow(run_id, None, "info", text, "journal.jsonl")
    for cell in evidence.strangers():
        yield NoteRow(run_id, None, "error", say.stranger(cell=cell), "journal.jsonl")


_NAMED = 10
"""The most cells to name in a message. Further cells are only counted."""


def _later_attempts(verdicts: Sequence[CellVerdict]) -> str:
    """Name the cells whose good attempt is not their first, with the number of that attempt. Attempts after `bench
    resume` count, too. Returns "" if there are none."""
    later = [(v.cell.id, v.attempt) for v in verdicts if v.status == "ok" and v.attempt and v.attempt > 1]
    if not later:
        return ""
    named = joined((say.attempt_of(cell=cell, n=attempt) for cell, attempt in later[:_NAMED]), say.comma)
    more = len(later) - _NAMED
    return say.later_attempts(cells=say.comma_more(said=named, n=more) if more > 0 else named)


def _fact_rows(evidence: Evidence) -> Iterator[FactRow]:
    """Yield the declared facts of each hardware group, then the last observed facts of each host, server and tool."""
    run_id = evidence.run_id
    for key, hardware in evidence.plan.hardware.items():
        yield FactRow(run_id, "hardware", key, None, "nodes", str(hardware.nodes), "nodes", "declared")
        for name, fact in hardware.facts.items():
            value, unit = _declared(fact)
            yield FactRow(run_id, "hardware", key, None, name, value, unit, "declared")
    for kind, group, subject, facts in _observed(evidence):
        for name, value in facts.items():
            yield FactRow(run_id, kind, group, subject, name, value, None, "observed")


def _observed(evidence: Evidence) -> Iterator[tuple[str, str | None, str | None, Mapping[str, str]]]:
    """Yield the observed facts: the kind of subject, its hardware group, its name, and its facts."""
    for host in evidence.record.hosts.values():
        groups = [key for key, hardware in evidence.plan.hardware.items() if host.host in hardware.hosts]
        for group in groups or (None,):
            yield "host", group, host.host, host.facts
    for engine in evidence.record.engines.values():
        yield "database", engine.database.hardware, engine.database, engine.facts
    yield "spec", None, None, revision_in(evidence.run_dir)
    for tool in evidence.record.tools.values():
        found = {f"{tool.driver}.path": tool.path, f"{tool.driver}.version": tool.version}
        yield "tool", None, tool.host, {name: value for name, value in found.items() if value}


def _declared(fact: Fact) -> tuple[str, str | None]:
    if isinstance(fact, Quantity):
        return f"{fact.value:.15g}", fact.unit
    return (str(fact).lower() if isinstance(fact, bool) else fact), None


# --- latencies of a point ----------------------------------------------------------------------------------------


def _latency_rows(run_id: str, repeats: Sequence[tuple[Cell, CellMeasurement]], planned: int) -> Iterator[LatencyRow]:
    """Yield latency rows for each operation: by load generator (if there are several), by repeat, and over all repeats.

    The rows over all repeats have no value if fewer repeats than the `planned` ones were measured, because then the
    merged repeats may not represent the point.
    """
    found: dict[tuple[int | None, str, str], dict[int, dict[str, Operation]]] = {}
    for cell, measured in repeats:
        for source, measurement in measured.sources.items():
            for op in measurement.operations:
                of_repeat = found.setdefault((op.phase, op.operation, op.kind), {}).setdefault(cell.repeat, {})
                of_repeat[source] = op
    cell = repeats[0][0]
    place = (run_id, *Curve.of(cell), cell.threads, cell.target)
    # When one operation has intended latency, another's service time must not appear beside it as equal.
    from_due = any(kind == "intended" for _, _, kind in found)
    for (phase, operation, kind), by_repeat in found.items():
        reported = kind == "intended" or not from_due
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
            some = say.repeats_missing(measured=len(repeats), n=planned) if len(repeats) < planned else ""
            for each in known[same]:
                statistic = replace(each, value_s=None, reason=some) if some and at_repeat is None else each
                of = (phase, at_repeat, at_source, operation, kind, statistic.name)
                value = (statistic.value_s, statistic.origin, len(ops), statistic.reason)
                yield LatencyRow(*place, *of, *value, reported)

"""A run's `series.parquet`: each quantity at each point, with everything that determines which series a value belongs
to.

The file is small, so that the files of thousands of runs can be read without the runs' tables.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from io import BytesIO
from itertools import chain, product
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from benchbrief.model.events import RunStarted
from benchbrief.model.fingerprint import Parts, digest, size_parts, workload_parts
from benchbrief.model.held_out import number_of
from benchbrief.model.message import Message, message_from_data, to_data
from benchbrief.model.plan import Cell, Claim, Database, DatabaseKey, DimKey, Experiment, Metric, Plan
from benchbrief.model.points import Point, PointKeys, labels_of_levels
from benchbrief.results.compare.compared_quantities import own_quantities
from benchbrief.results.compare.comparison import Better
from benchbrief.results.compare.contender import Contender, definition_of, is_passing
from benchbrief.results.open_store import unchanged_store
from benchbrief.results.result_messages import say
from benchbrief.results.runs.find_runs import started_at
from benchbrief.results.store.searched_doubts import KNOWN, Doubt
from benchbrief.results.store.store import Store
from benchbrief.runners.journal.atomic_files import write_durably
from benchbrief.runners.journal.journal_file import JOURNAL, first_start
from benchbrief.runners.journal.measurement_versions import ONE_FOR_ALL, Recorded, Way, recorded_at, way_of
from benchbrief.runners.journal.run_folder import load_plan, revision_in

if TYPE_CHECKING:
    import pyarrow as pa

Facts = dict[str, str]
_KINDS = ("host", "database", "tool", "source")
_FOLDER = re.compile(r"^/(?:.*/)?(?=[^/]+ \(SHA-256 )")
"""Matches the folder in the path of a file that is identified by its content: `/etc/` in `/etc/rocks.ini (SHA-256
...)`."""


class Environments:
    """The environments of a run's values, each with the facts about the cells behind the values."""

    def __init__(self, store: Store) -> None:
        rows = store.sql("SELECT kind, hardware, node, name, value FROM facts ORDER BY ALL").rows
        self._rows = [row for row in rows if _counts(row[0], row[3])]
        self._found: dict[tuple[frozenset[str | None], ...], Facts] = {}

    def of(self, cells: Sequence[Cell]) -> Facts:
        """Return the facts about the cells. Each fact has its values on all nodes, in order."""
        hardware: frozenset[str | None] = frozenset(cell.hardware for cell in cells)
        databases: frozenset[str | None] = frozenset(cell.database for cell in cells)
        loaders: frozenset[str | None] = frozenset(host for cell in cells for host in cell.load_hosts)
        drivers: frozenset[str | None] = frozenset(cell.tool.driver for cell in cells)
        key = hardware, databases, loaders, drivers
        if key not in self._found:
            self._found[key] = self._facts(hardware, databases, loaders, drivers)
        return self._found[key]

    def _facts(
        self,
        hardware: frozenset[str | None],
        databases: frozenset[str | None],
        loaders: frozenset[str | None],
        drivers: frozenset[str | None],
    ) -> Facts:
        found: dict[str, dict[str, None]] = {}
        for kind, group, node, name, value in self._rows:
            of = f" of {group}" if len(hardware) > 1 and group in hardware else ""
            if kind == "tool":
                if node not in loaders or name.partition(".")[0] not in drivers:
                    continue
                what = f"tool {name}"
            elif kind == "database":
                if node not in databases:
                    continue
                what = f"database {name}{of}"
            elif group in hardware:
                what = f"{name}{of}"
            elif group is None and (kind == "source" or node in loaders):
                what = f"{'source' if kind == 'source' else 'load generator'} {name}"
            else:
                continue
            found.setdefault(what, {}).setdefault(_FOLDER.sub("", str(value)))
        return {what: ", ".join(sorted(values)) for what, values in sorted(found.items())}


def _counts(kind: str, name: str) -> bool:
    if kind == "hardware":
        return name == "nodes"
    return kind in _KINDS and not is_passing(name) and name != "path"


def without_facts(facts: Facts, patterns: Sequence[str]) -> Facts:
    """Return the facts whose names match none of the patterns (`database version`, `tool db_bench.*`)."""
    return {name: value for name, value in facts.items() if not any(fnmatchcase(name, each) for each in patterns)}


def changed_facts(before: Facts, after: Facts) -> Iterable[tuple[str, str, str]]:
    """Yield each fact that differs, with both values. A missing value is ""."""
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) != after.get(name):
            yield name, before.get(name, ""), after.get(name, "")


SERIES = "series.parquet"
SERIES_VERSION = 9
"""The version of series files. Raise it when the columns change, or when the rules that assign a value to a series
change."""
READABLE = (2, 3, 4, 5, 6, 7, 8)
"""Earlier versions that can still be read, because they lack only claims and columns that have a default."""
VERSION_KEY = b"benchbrief.series"
LABELS_KEY = b"benchbrief.labels"
"""The key in a file's metadata that holds the labels of hardware and workloads, as JSON. Files pushed by earlier
versions have no labels."""


class SeriesRow(NamedTuple):
    """A quantity at a point. `repeat` is NULL for the value over all repeats. Known repeats count from 1.

    A value over all repeats is missing if a planned repeat is missing. Then `reason` says why.
    """

    run_id: str
    measured_at: datetime
    """When the run began, in UTC."""
    title: str
    """The title of the run's first report, or else the name of its spec."""
    spec: str
    """The name of the spec's file without the folder, because the folder differs from one checkout to another."""
    profile: str
    origin: str
    """measured | simulated | imported"""
    revision: str
    """The git revision of the spec, with `+` if it has changed since, or "" if the revision is unknown."""
    quantity: str
    """throughput, errors, sustained, latency.p99[read], the name of a metric, or the name of a claim, such as
    claim.gain."""
    label: str
    unit: str
    better: str | None
    percentile: bool
    point: str
    """The dimensions of the point as canonical JSON: sorted keys, no spaces, no missing dimensions."""
    repeat: int | None
    value: float | None
    reason: str
    definition: str
    """The hash of everything that defines the quantity: expression, unit, workload, promise, database, way of
    measuring."""
    environment: str
    """The hash of `facts`."""
    facts: str
    """Facts of hosts, and versions of tools and servers, as canonical JSON."""
    control: bool
    """Whether the value is a control, because nothing under test runs on its hardware."""
    reused_from: str
    """The earlier run that measured the value, or "" if this run did."""
    bound: str = ""
    """at_least, at_most or open if a search found only a bound for the value. "" otherwise."""
    decided: bool = True
    """Whether the searches behind the value decided with the required confidence. For a claim, also whether its numbers
    support it in all briefs."""
    chosen: bool = False
    """Whether the run itself chose the load of the point, as an adaptive ramp does. Other runs may choose
    other loads."""
    message: str = ""
    """`reason` with its code, as JSON. "" if the reason has no code, and in files of earlier versions."""
    by_ratio: bool = False
    """Whether comparisons test the logarithms of the value's repeats."""
    place: int = 0
    """The position of the point among all points of the run, in the order of the spec."""
    also: str = ""
    """Other claims with the same number as this claim, such as its versions in other languages (claim.gain_ja),
    separated by blanks."""


def schema() -> pa.Schema:
    """Return the columns of a series file. Their types are names, numbers, texts, and UTC times in microseconds."""
    import pyarrow as pa

    repeated = pa.dictionary(pa.int32(), pa.string())
    plain = {
        "measured_at": pa.timestamp("us", tz="UTC"),
        "percentile": pa.bool_(),
        "control": pa.bool_(),
        "decided": pa.bool_(),
        "chosen": pa.bool_(),
        "by_ratio": pa.bool_(),
        "repeat": pa.int64(),
        "place": pa.int64(),
        "value": pa.float64(),
    }
    fields = [pa.field(name, plain.get(name, repeated)) for name in SeriesRow._fields]
    return pa.schema(fields, {VERSION_KEY: str(SERIES_VERSION).encode()})


def write_series(run_dir: Path, path: Path) -> None:
    """Write the series file of a run, either completely or not at all. The run is unchanged. Raises RunnerError,
    OSError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    plan = load_plan(run_dir)
    with unchanged_store(run_dir) as store:
        rows = list(rows_in(run_dir, plan, store))
    columns = list(zip(*rows, strict=True)) or [()] * len(SeriesRow._fields)
    kinds = schema()
    table = pa.table([pa.array(column, kind) for column, kind in zip(columns, kinds.types, strict=True)], schema=kinds)
    table = table.replace_schema_metadata({**(kinds.metadata or {}), LABELS_KEY: canonical(labels_of(plan)).encode()})
    content = BytesIO()
    pq.write_table(table, content, compression="zstd")
    write_durably(path, content.getvalue())


def labels_of(plan: Plan) -> dict[str, dict[str, str]]:
    """Return the labels of `hardware`, `workloads` and, if there are any, `levels`, by key."""
    labels = {
        "hardware": {key: group.label for key, group in plan.hardware.items()},
        "workloads": {key: each.label for key, each in plan.workloads.items() if key == each.name},
    }
    return {**labels, "levels": labels_of_levels(plan)} if plan.factors else labels


def labels_in(metadata: Mapping[bytes, bytes] | None) -> dict[str, dict[str, str]]:
    """Return the labels in a series file's metadata, or {} if there are none. Raises ValueError."""
    labels = (metadata or {}).get(LABELS_KEY)
    return dict(json.loads(labels)) if labels else {}


def series_rows(run_dir: Path) -> list[SeriesRow]:
    """Return each value of a run as a row of the history, with what identifies its series.

    Raises RunnerError if the run's plan or its store can't be read.
    """
    plan = load_plan(run_dir)
    with unchanged_store(run_dir) as store:
        return list(rows_in(run_dir, plan, store))


class _Measured(NamedTuple):
    """A quantity at a point, with everything that defines it."""

    quantity: str
    label: str
    unit: str
    better: Better
    percentile: bool
    point: PointKeys
    values: tuple[tuple[int | None, float | None, str], ...]
    """The repeats, each with its value or with the reason why it has none."""
    metric: Metric | None
    by_ratio: bool
    doubt: Doubt = KNOWN
    also: str = ""


def rows_in(run_dir: Path, plan: Plan, store: Store) -> Iterator[SeriesRow]:
    """Yield the rows of a run whose store is open."""
    start, began = first_start(run_dir / JOURNAL), datetime.fromtimestamp(started_at(run_dir), UTC)
    run_id = run_dir.resolve().name
    origin = "imported" if store.imported else "simulated" if store.simulated else "measured"
    revision = revision_in(run_dir)
    environments = Environments(store)
    reused = dict(store.sql("SELECT cell_id, reused_from FROM main.cells WHERE reused_from IS NOT NULL").rows)
    definitions: dict[tuple[str, _Behind], str] = {}
    placed = PlacedCells(plan)
    behind: dict[tuple[PointKeys, str], tuple[Cell, ...]] = {}
    measured = chain(_measured(Contender(run_dir.name, plan, store, origin=origin)), _claimed(plan, store))
    for place, each in enumerate(measured):
        at = each.point, each.metric.name if each.metric else ""
        if at not in behind:
            behind[at] = tuple(placed.at(each.point, each.metric))
        cells = behind[at]
        of = (
            each.quantity,
            frozenset((cell.experiment, cell.database, cell.workload_key or cell.workload) for cell in cells),
        )
        if of not in definitions:
            definitions[of] = _definition(each, of[1], plan, _ways(plan, cells, start))
        facts = environments.of(cells)
        shared = {cell.hardware for cell in cells}
        point = {dim: key for dim, key in each.point if key is not None}
        for repeat, value, reason in each.values:
            known = value is not None and math.isfinite(value)
            yield SeriesRow(
                run_id=run_id,
                measured_at=began,
                title=next((report.title for report in plan.reports if report.title), Path(plan.spec.name).name),
                spec=Path(plan.spec.name).name,
                profile=plan.spec.profile or "",
                origin=origin,
                revision=revision.get("commit", "") + ("+" if revision.get("dirty") == "true" else ""),
                quantity=each.quantity,
                label=each.label,
                unit=each.unit,
                better=each.better,
                percentile=each.percentile,
                point=canonical(point),
                repeat=repeat,
                value=value if known else None,
                reason="" if known else reason or "not a finite number",
                message="" if known else coded(reason),
                definition=definitions[of],
                environment=digest(facts)[:16],
                facts=canonical(facts),
                control=bool(shared) and all(plan.hardware[key].control for key in shared),
                reused_from=next((reused[cell.id] for cell in cells if cell.id in reused), ""),
                bound=each.doubt.bound,
                decided=each.doubt.decided,
                by_ratio=each.by_ratio,
                place=place,
                chosen=_is_chosen(plan, point, cells),
                also=each.also,
            )


def _is_chosen(plan: Plan, point: Mapping[str, DimKey | None], cells: Sequence[Cell]) -> bool:
    """Return whether a point is at a load that the run itself chose."""
    experiments = [plan.experiments[cell.experiment] for cell in cells]
    choosing = [bool(each.adaptive or each.search or each.promise) for each in experiments]
    return bool({"threads", "target"} & point.keys() and choosing) and all(choosing)


def canonical(content: object) -> str:
    """Return JSON text that is identical for equal content."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def coded(reason: str) -> str:
    """Return the value of the column `message` for a reason."""
    return canonical(to_data(reason)) if isinstance(reason, Message) else ""


def reason_of(reason: str, message: str) -> str:
    """Combine the columns `reason` and `message` into a reason, with its code if it has one. Raises ValueError,
    RecursionError."""
    return message_from_data(json.loads(message)) if message else reason


def _measured(side: Contender) -> Iterator[_Measured]:
    metrics = {metric.name: metric for metric in side.plan.metrics}
    names = set()
    for quantity in own_quantities(side):
        names.add(quantity.name)
        metric = metrics.get(quantity.name)
        for point, (values, _) in quantity.points.items():
            if values is None:
                continue
            repeats = tuple((place, value, "") for place, value in enumerate(values.repeats, 1))
            yield _Measured(
                quantity.name,
                metric.label if metric else "",
                quantity.unit,
                quantity.better,
                values.percentile,
                point,
                ((None, values.value, str(values.reason)), *repeats),
                metric,
                quantity.by_ratio,
                values.doubt,
            )
    for name, metric in metrics.items():  # those with one value over all repeats
        for row in side.store.query(metric.query) if name not in names else ():
            point = tuple(zip(metric.query.dims, row[:-1], strict=True))
            reason = str(getattr(row, "reason", None) or "")
            yield _Measured(
                name,
                metric.label,
                metric.query.unit,
                metric.better,
                bool(metric.percentile),
                point,
                ((None, row[-1], reason),),
                metric,
                metric.query.by_ratio,
            )


def _claimed(plan: Plan, store: Store) -> Iterator[_Measured]:
    """Yield the number of each claim. If two languages claim the same number, it is yielded only once."""
    if not plan.claims:
        return
    from benchbrief.reports.claims_sheet import claims_sheet

    sheet, metrics = claims_sheet(plan, store), metrics_in(plan)
    by_number: dict[str, list[Claim]] = {}
    for each in plan.claims:
        by_number.setdefault(number_of(each), []).append(each)
    for claim, *others in by_number.values():
        verdicts = [row.verdict for row in sheet if row.verdict.claim.name == claim.name]
        found, metric = verdicts[0], metrics[f"{CLAIM}{claim.name}"]
        doubt = Doubt("at_least" if found.at_least else "", all(each.is_borne_out for each in verdicts))
        whole = (None, found.value, "" if found.value is not None else say.no_such_value())
        unit = metric.query.unit
        also = " ".join(f"{CLAIM}{each.name}" for each in others)
        yield _Measured(metric.name, metric.label, unit, metric.better, False, (), (whole,), metric, False, doubt, also)


CLAIM = "claim."
"""The prefix of the quantity that a claim states: `claim.gain` for the claim `gain`."""


def metrics_in(plan: Plan) -> dict[str, Metric]:
    """Return the metrics of a plan by quantity. The numbers of its claims count as metrics."""
    claims = (
        Metric(
            name=f"{CLAIM}{each.name}",
            label="".join(part if isinstance(part, str) else "\N{HORIZONTAL ELLIPSIS}" for part in each.sentence.parts),
            better=each.better,
            query=each.points,
            params={"of": each.bound or "one", "held out": f"{each.held_out.times if each.held_out else 0} times"},
            origin=each.origin,
        )
        for each in plan.claims
    )
    return {each.name: each for each in (*plan.metrics, *claims)}


_Placed = tuple[Cell, dict[str, DimKey | None]]
"""A cell, and the known keys of its point. The key of a factor that the cell's experiment does not vary is None."""


class PlacedCells:
    """The cells of a plan by their points."""

    def __init__(self, plan: Plan) -> None:
        unvaried = dict.fromkeys(plan.factors)
        self._dims = plan.point_dims
        self._cells = [(cell, {**unvaried, **Point.of(cell).known_keys}) for cell in plan.cells]
        self._by: dict[tuple[str, ...], dict[tuple[DimKey | None, ...], list[_Placed]]] = {}

    def at(self, point: PointKeys, metric: Metric | None) -> Iterator[Cell]:
        """Yield the cells that a value is computed from: those that the metric reads or, without a metric, all cells at
        the point. A point may have fewer dimensions than a cell, and a cell may have no threads or target."""
        keys = {dim: key for dim, key in point if key is not None and dim in self._dims}
        dims, reads = tuple(keys), metric.query.reads if metric else None
        if dims not in self._by:
            found = self._by[dims] = {}
            for cell, place in self._cells:
                found.setdefault(tuple(place.get(dim) for dim in dims), []).append((cell, place))
        for wanted in product(*((key, None) if dim in ("threads", "target") else (key,) for dim, key in keys.items())):
            for cell, place in self._by[dims].get(wanted, ()):
                if reads is None or any(read.covers(place) for read in reads):
                    yield cell


_Behind = frozenset[tuple[str, DatabaseKey, str]]
"""The experiment, database and workload of each cell behind a value, by their keys in the plan."""


def _definition(each: _Measured, behind: _Behind, plan: Plan, ways: list[int | Way]) -> str:
    """Return the hash of everything that two values of the same name must share to be comparable."""
    promises = [_promise_parts(plan.experiments[name]) for name in {experiment for experiment, _, _ in behind}]
    databases = [
        {**_database_parts(plan.databases[key]), **size_parts(plan.databases[key], plan.workloads[workload])}
        for key, workload in {(database, workload) for _, database, workload in behind}
    ]
    workloads: dict[str, list[Parts]] = {}
    for key in {key for _, _, key in behind}:
        workloads.setdefault(plan.workloads[key].name, []).append(workload_parts(plan.workloads[key]))
    parts = {
        "metric": definition_of(each.metric, plan) if each.metric else {},
        "unit": each.unit,
        "better": each.better,
        "workloads": {name: found[0] if len(found) == 1 else _distinct(found) for name, found in workloads.items()},
        # A name alone defines nothing, so a new name begins no new part.
        "promises": _distinct(promises),
        "databases": _distinct(databases),
        # Earlier journals have one number for all tools. A series continues while its tool measures as it did then.
        "measurement": ways[0] if len(ways) == 1 else ways,
    }
    return digest(parts)[:16]


def _ways(plan: Plan, cells: Iterable[Cell], start: RunStarted | None) -> list[int | Way]:
    """Return all ways of measuring the cells, without duplicates. In a journal with one version number for all tools,
    the way is that number."""
    if start is None or start.imported:
        return [start.measurement if start else 0]
    found: set[int | Way] = set()
    for cell in cells:
        way = way_of(plan, cell, recorded_at(start, cell))
        found.add(ONE_FOR_ALL if way == way_of(plan, cell, Recorded(ONE_FOR_ALL)) else way)
    return sorted(found, key=str) or [start.measurement]


def _distinct(parts: Iterable[Parts]) -> list[str]:
    return sorted({digest(each) for each in parts if each})


def _promise_parts(experiment: Experiment) -> Parts:
    """Return the parts of a promise that determine where a search for it ends, as in `Promise.is_same`. The limits may
    be in any order and unit."""
    promise = experiment.promise
    if promise is None:
        return {}
    return {
        **promise.model_dump(include={"within", "judged", "held_out"}),
        "limits": _distinct(limit.model_dump(exclude={"text"}) for limit in promise.limits),
        "range": [*experiment.points[:1], *experiment.points[-1:]],
    }


def _database_parts(database: Database) -> Parts:
    """Return the parts of a spec that describe a database, like a cell's `database_parts`, but without the place and
    the build.

    To a series, paths and addresses do not matter. Commands do not matter either, because they may contain paths and
    addresses. The version is part of the environment.
    """
    said = {
        "engine",
        "server",
        "topology",
        "members",
        "shards",
        "max_lag_s",
        "options",
        "reset",
        "drop_caches",
    }
    parts = database.model_dump(include=said)
    parts["settings"] = {key: "path" if each == database.path else each for key, each in database.settings.items()}
    parts["options_file"] = PurePosixPath(database.options_file or "").name
    if start := database.start:
        parts["start"] = {"config": start.config_sha256, "tls": start.tls is not None, "auth": start.auth is not None}
    return parts

"""Lists all points of a run as rows for a sheet: one row for each planned measurement, with its results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from benchbrief.compiler.metrics.lower_to_sql import sql_text
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.data.report_data import NOT_PUBLISHED, AskedStore, Results
from benchbrief.reports.text.number_format import unit_text

_STATISTICS = ("mean", "p50", "p95", "p99", "p99.9", "max")
_MOST_LATENCIES = 60
"""The most columns of latencies. There must be a limit because an output may have any number of operations."""


_UNPUBLISHED = f"coalesce(reason = {sql_text(NOT_PUBLISHED)}, false)"
_OF_REPEATS = "phase IS NULL AND repeat IS NOT NULL AND source IS NULL AND reported"


@dataclass(frozen=True)
class PointColumn:
    """A column and its head, which includes the unit."""

    head: str
    is_number: bool = False


@dataclass(frozen=True)
class PointsTable:
    """The table of all points.

    `count` is the number of rows, and `left_out` is the number of columns that did not fit. Only the first `printed`
    rows are printed: the others have numbers that were not published. The columns from `named` up to `places` say what
    a row is about.
    """

    columns: tuple[PointColumn, ...]
    count: int
    sql: str
    store: AskedStore
    printed: int
    named: int
    places: int
    left_out: int = 0

    @contextmanager
    def rows(self) -> Iterator[Iterable[Sequence[object]]]:
        """Yield the rows one by one. While they are read, the store allows no other query."""
        with self.store.each(self.sql) as found:
            yield found


def measured_points(results: Results) -> PointsTable:
    """Return a row for each planned measurement, with its place, its state and the reason for that, and its throughput,
    errors and latencies over the whole measured window, in base units."""
    words, store = results.words, results.store
    asked = store.sql(f"SELECT DISTINCT operation, statistic FROM latency WHERE {_OF_REPEATS} ORDER BY operation").rows  # noqa: S608  # a constant
    known = {(str(operation), str(statistic)) for operation, statistic in asked}
    latencies = sorted((each for each in known if each[1] in _STATISTICS), key=_in_order)
    shown, left_out = latencies[:_MOST_LATENCIES], latencies[_MOST_LATENCIES:]
    units = {str(name): unit for name, unit in store.sql("SELECT DISTINCT factor, unit FROM factors").rows}
    factors = store.sql("SELECT * FROM measure.levels LIMIT 0").columns[1:]
    columns = [
        PointColumn(words["xlsx_measurement"]),
        *(PointColumn(words.dimension(dim)) for dim in ("experiment", "hardware", "workload")),
        *(PointColumn(*_factor_head(name, units.get(name), results)) for name in factors),
        PointColumn(words.dimension("threads"), is_number=True),
        PointColumn(f"{words.dimension('target')} (ops/s)", is_number=True),
        PointColumn(words.dimension("repeat"), is_number=True),
        PointColumn(words["xlsx_state"]),
        PointColumn(words["xlsx_reason"]),
        PointColumn(f"{words['site_throughput']} (ops/s)", is_number=True),
        PointColumn(words["xlsx_operations"], is_number=True),
        PointColumn(words["xlsx_errors"], is_number=True),
        PointColumn(f"{words['xlsx_lasted']} (s)", is_number=True),
        *(PointColumn(f"{operation} {statistic} (s)", is_number=True) for operation, statistic in shown),
    ]
    ((count, printed),) = store.sql(f"SELECT count(*), count(*) FILTER (NOT {_UNPUBLISHED}) FROM cells").rows  # noqa: S608  # a constant
    places = 7 + len(factors)
    return PointsTable(tuple(columns), count, _points_sql(shown), store, printed, 1, places, len(left_out))


def _in_order(latency: tuple[str, str]) -> tuple[str, int]:
    return latency[0], _STATISTICS.index(latency[1])


def _factor_head(name: str, unit: object, results: Results) -> tuple[str, bool]:
    label, written = results.words.dimension(name), unit_text(str(unit or ""))
    return f"{label} ({written})" if written else label, unit is not None


def _points_sql(latencies: Sequence[tuple[str, str]]) -> str:
    wanted = (f"operation = {sql_text(operation)} AND statistic = {sql_text(each)}" for operation, each in latencies)
    pivoted = "".join(f", max(value_s) FILTER (WHERE {one}) AS v{at}" for at, one in enumerate(wanted))
    places = ("experiment", "hardware", "workload", "levels", "threads", "target", "repeat")
    values = "".join(f", measure.number(v.v{at})" for at in range(len(latencies)))
    same = " AND ".join(f"v.{name} IS NOT DISTINCT FROM c.{name}" for name in places)
    pivot = f"SELECT {', '.join(places)}{pivoted} FROM latency WHERE {_OF_REPEATS} GROUP BY ALL"  # noqa: S608  # quoted names and texts
    latency = f"LEFT JOIN ({pivot}) AS v ON c.status = 'ok' AND {same} " if latencies else ""
    return f"""
        SELECT c.cell_id, c.experiment, c.hardware, c.workload, l.* EXCLUDE (levels), c.threads, c.target, c.repeat,
               c.status, c.reason, measure.number(t.ops_per_s), t.count, t.errors, c.measured_s{values}
        FROM main.cells AS c JOIN measure.levels AS l USING (levels)
        LEFT JOIN (SELECT * FROM throughput WHERE phase IS NULL AND operation = 'all') AS t
        ON t.cell_id = c.cell_id AND t.run_id = c.run_id AND c.status = 'ok'
        {latency}ORDER BY {_UNPUBLISHED.replace("reason", "c.reason")}, c.cell_id"""  # noqa: S608  # quoted names and texts


def probed_means(results: Results) -> PointsTable:
    """Return a row for each measurement, node and probed measure, with the mean over the measured window."""
    words, store = results.words, results.store
    sql = (
        "SELECT experiment, hardware, workload, node, measure, threads, target, repeat, value, unit "
        "FROM measure.mean JOIN (SELECT measure, any_value(unit) AS unit FROM samples GROUP BY measure) "
        "USING (measure) ORDER BY ALL"
    )
    columns = (
        *(PointColumn(words.dimension(dim)) for dim in ("experiment", "hardware", "workload")),
        PointColumn(words["xlsx_node"]),
        PointColumn(words["xlsx_measure"]),
        PointColumn(words.dimension("threads"), is_number=True),
        PointColumn(f"{words.dimension('target')} (ops/s)", is_number=True),
        PointColumn(words.dimension("repeat"), is_number=True),
        PointColumn(words["xlsx_value"], is_number=True),
        PointColumn(words["xlsx_unit"]),
    )
    count = int(store.sql(f"SELECT count(*) FROM ({sql})").rows[0][0])  # noqa: S608  # the statement just above
    return PointsTable(columns, count, sql, store, count, 0, len(columns))


def labels_of(results: Results) -> Mapping[str, Mapping[str, str]]:
    """Return the labels of hardware and workloads, by key, and the names of experiments."""
    plan = results.plan
    return {
        "experiment": {key: key for key in plan.experiments},
        "hardware": {key: each.label for key, each in plan.hardware.items()},
        "workload": {key: each.label for key, each in plan.workloads.items()},
    }

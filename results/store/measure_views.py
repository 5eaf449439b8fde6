"""The `measure` views over a store's tables, from which metrics and users' SQL are computed.

The views have one row for each combination of their dimensions, only for cells with status ok. "Each factor" means one
column for each factor of the run, named like the factor. It contains the level: a word (VARCHAR), or a number in its
base unit (DOUBLE); NULL in experiments that do not vary the factor.

    measure.throughput  experiment, hardware, workload, each factor, threads, target, phase, repeat, operation, value
                        [ops/s]; phase NULL is the whole measured window; operation 'all' is the total; there is a row
                        for each repeat, and measure.spread has the mean over the repeats
    measure.latency     experiment, hardware, workload, each factor, threads, target, phase, repeat, operation, kind,
                        statistic, value [s], reported; repeat NULL is merged over repeats; phase NULL is the whole
                        window
    measure.errors      experiment, hardware, workload, each factor, threads, target, phase, repeat, value [share of
                        operations, 0..1]
    measure.sample      measure, experiment, hardware, workload, each factor, threads, target, repeat, node, time, value
                        [base unit]; the values of several devices are added (shares, times, temperatures and speeds
                        are averaged); time is in whole seconds from the start of the measured window; each second that
                        a reading covers has one row with the mean over that second
    measure.mean        measure, experiment, hardware, workload, each factor, threads, target, repeat, node, value [base
                        unit]: the mean over the sampled time of the measured window (for times of a disk's requests,
                        the mean over requests); this view also has the sizes of databases and the effects of events,
                        which are not means
    measure.cells       experiment, hardware, workload, each factor, threads, target, repeat: every planned cell, done
                        or not, except cells that a search did not need
    measure.spread      experiment, hardware, workload, each factor, threads, target, phase, operation, repeats, mean,
                        sd, cv: throughput over repeats [ops/s]; sd and cv are NULL if there are fewer than two repeats

    measure.sustained   experiment, hardware, workload, each factor, value [ops/s], bound, decided, mark: the rate that
                        a search for a promise found; bound is 'at_least' if the true rate may be higher, else NULL;
                        decided is whether the search decided with its confidence; mark is the sign before the value in
                        briefs, such as ≳, or NULL; a metric of such a rate has the same columns

    measure.levels      levels, each factor: the meaning of the column `levels` of the tables

    metric.NAME         the spec's metric of that name, as the run was planned: its dimensions, then value, in the unit
                        that the table `metrics` has; a missing value is NULL. A metric of a searched rate also has
                        the columns `bound`, `decided` and `mark`

Types and units are the same as in the tables (`store_schema.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from benchbrief.compiler.measure_catalogue import VIEW_COLUMNS
from benchbrief.compiler.metrics.lower_to_sql import sql_name, sql_text
from benchbrief.model.plan import DimKey
from benchbrief.results.store.searched_doubts import SUSTAINED as SUSTAINED_VIEW
from benchbrief.results.store.searched_doubts import doubts
from benchbrief.results.store.store_schema import EVENT_MEANS, SUSTAINED
from benchbrief.results.store.user_query import QueryAnswer, ask, require_reading
from benchbrief.results.store_errors import ResultsError

if TYPE_CHECKING:
    import duckdb

_VIEWS = (
    """
-- NaN and infinity are no measurements.
CREATE MACRO measure.number(value) AS CASE WHEN isfinite(value) THEN value END;

-- The mean of samples over the time that they stand for; where that is not known, all are alike.
CREATE MACRO measure.over_time(value, from_s, to_s) AS
coalesce(sum(value * (to_s - from_s)) / nullif(sum(to_s - from_s) FILTER (WHERE value IS NOT NULL), 0), avg(value));

-- Shares, times, temperatures and speeds don't add up over the devices of a node.
CREATE MACRO measure.over_devices(value, unit) AS
CASE WHEN any_value(unit) IN ('', '1', '%', 'share', 's', 'degC', 'K', 'Hz', 'rpm') THEN avg(value) ELSE sum(value) END;

CREATE VIEW measure.cells AS
SELECT experiment, hardware, workload, l.* EXCLUDE (levels), threads, target, repeat
FROM main.cells JOIN measure.levels AS l USING (levels)
WHERE status <> 'skipped';

CREATE VIEW measure.throughput AS
SELECT experiment, hardware, workload, l.* EXCLUDE (levels), threads, target, phase, repeat, operation,
       measure.number(ops_per_s) AS value
FROM main.throughput JOIN main.cells USING (run_id, cell_id) JOIN measure.levels AS l USING (levels)
WHERE status = 'ok';

CREATE VIEW measure.latency AS
SELECT experiment, hardware, workload, l.* EXCLUDE (levels), threads, target, phase, repeat, operation, kind, statistic,
       measure.number(value_s) AS value, reported
FROM main.latency JOIN measure.levels AS l USING (levels)
WHERE source IS NULL;

CREATE VIEW measure.errors AS
SELECT experiment, hardware, workload, l.* EXCLUDE (levels), threads, target, phase, repeat,
       errors / nullif(count + errors, 0) AS value
FROM main.throughput JOIN main.cells USING (run_id, cell_id) JOIN measure.levels AS l USING (levels)
WHERE status = 'ok' AND operation = 'all';

CREATE VIEW measure.sample AS
SELECT measure, experiment, hardware, workload, l.* EXCLUDE (levels), threads, target, repeat, node, time, value
FROM (
    SELECT run_id, cell_id, measure, node, time,
           measure.over_devices(value, unit) AS value
    FROM (
        SELECT run_id, cell_id, measure, node, device, unit, time, measure.over_time(value, from_s, to_s) AS value
        FROM (
            SELECT run_id, cell_id, measure, node, device, unit, value, time,
                   greatest(from_s, time) AS from_s, greatest(from_s, time, least(to_s, time + 1)) AS to_s
            FROM (
                SELECT *, unnest(range(first, greatest(last, first + 1))) AS time
                FROM (
                    -- A millionth of a second is rounding. What stands for no time is in the second of its reading.
                    SELECT *,
                           floor(CASE WHEN to_s > from_s THEN from_s + 1e-6 ELSE t_s END)::BIGINT AS first,
                           ceil(CASE WHEN to_s > from_s THEN to_s - 1e-6 ELSE t_s END)::BIGINT AS last
                    FROM main.samples
                )
            )
        )
        GROUP BY run_id, cell_id, measure, node, device, unit, time
    )
    GROUP BY run_id, cell_id, measure, node, time
) JOIN main.cells USING (run_id, cell_id) JOIN measure.levels AS l USING (levels)
WHERE status = 'ok';

CREATE VIEW measure.mean AS
SELECT measure, experiment, hardware, workload, l.* EXCLUDE (levels), threads, target, repeat, node, value
FROM (
    SELECT run_id, cell_id, measure, node, measure.over_devices(value, unit) AS value
    FROM (
        SELECT run_id, cell_id, measure, node, device, unit, measure.over_time(value, from_s, to_s) AS value
        FROM main.samples
        WHERE measure NOT IN ('disk.read_await', 'disk.write_await')
        GROUP BY run_id, cell_id, measure, node, device, unit
    )
    GROUP BY run_id, cell_id, measure, node
) JOIN main.cells USING (run_id, cell_id) JOIN measure.levels AS l USING (levels)
WHERE status = 'ok'
UNION ALL
-- What the requests of a disk took is weighted by how many there were. Where that is not known, all readings are alike.
SELECT measure, experiment, hardware, workload, l.* EXCLUDE (levels), threads, target, repeat, node,
       coalesce(sum(value * requests) / nullif(sum(requests) FILTER (WHERE value IS NOT NULL), 0), avg(value))
FROM (
    SELECT a.*, n.value * coalesce(nullif(n.to_s - n.from_s, 0), 1) AS requests
    FROM main.samples AS a
    LEFT JOIN main.samples AS n
      ON n.measure = CASE a.measure WHEN 'disk.read_await' THEN 'disk.reads' ELSE 'disk.writes' END
      AND n.run_id = a.run_id AND n.cell_id = a.cell_id AND n.node = a.node AND n.device = a.device AND n.t_s = a.t_s
    WHERE a.measure IN ('disk.read_await', 'disk.write_await')
) JOIN main.cells USING (run_id, cell_id) JOIN measure.levels AS l USING (levels)
WHERE status = 'ok'
GROUP BY ALL
UNION ALL
SELECT measure, experiment, hardware, workload, l.* EXCLUDE (levels), threads, target, repeat, node, value
FROM main.sizes JOIN main.cells USING (run_id, cell_id) JOIN measure.levels AS l USING (levels)
WHERE status = 'ok'@EVENTS@;

CREATE VIEW measure.spread AS
SELECT * EXCLUDE (repeat, value),
       count(value) AS repeats, avg(value) AS mean, stddev_samp(value) AS sd,
       stddev_samp(value) / nullif(avg(value), 0) AS cv
FROM measure.throughput
GROUP BY ALL;
""".replace("@EVENTS@", EVENT_MEANS)
    + SUSTAINED
)


def create_measures(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the `measure` views over the connection's tables, with a column for each of the run's factors.

    Raises ResultsError for factors that no spec can have, because a plan may come from a stranger.
    """
    factors: dict[str, bool] = dict(
        connection.execute("SELECT factor, number IS NOT NULL FROM main.factors").fetchall()
    )
    taken = set(VIEW_COLUMNS)
    for factor in factors:
        if not factor.isidentifier() or factor.casefold() in taken:
            what = f"the plan has a factor {factor!r}, which is the name of another column or no name at all"
            raise ResultsError(what, "benchbrief makes no such plan: run the spec again")
        taken.add(factor.casefold())
    columns = "".join(f", {_level(factor, is_number)} AS {sql_name(factor)}" for factor, is_number in factors.items())
    known = "(SELECT levels FROM main.cells UNION SELECT levels FROM main.promises)"
    connection.execute(f"CREATE SCHEMA measure; CREATE TABLE measure.levels AS SELECT levels{columns} FROM {known}")  # noqa: S608  # quoted
    connection.execute(_VIEWS)


def at_levels(table: str) -> str:
    """Return SQL that adds a column for each factor to a table with a column `levels`."""
    return f"(FROM main.{table} JOIN measure.levels USING (levels))"


def _level(factor: str, is_number: bool) -> str:
    """Return SQL that extracts the level of a factor from the text `levels`."""
    level = f"nullif(split_part(split_part(',' || levels, {sql_text(f',{factor}=')}, 2), ',', 1), '')"
    return f"TRY_CAST({level} AS DOUBLE)" if is_number else level


_ASKED = re.compile(r"\bmetric\b|\bshow\b|\bdescribe\b|information_schema|duckdb_views", re.IGNORECASE)
_NAMED = re.compile(r"\bmetric\.")
_BOUNDED = (
    "SELECT DISTINCT name FROM metrics WHERE contains(sql, 'measure.sustained') "
    "AND EXISTS (SELECT 1 FROM measure.sustained WHERE mark IS NOT NULL) ORDER BY ALL"
)
_METRICS = "SELECT name, sql FROM main.metrics"


def asks_for_metrics(text: str) -> bool:
    """Return whether a statement may need the views of metrics."""
    return _ASKED.search(text) is not None


def bounded_metrics(text: str, ask: Callable[[str], Iterable[Sequence[object]]]) -> list[str]:
    """Return the metrics in a statement (`metric.NAME`) that depend on doubtful searched rates. A rate is doubtful if
    it is undecided, or known only as a bound.

    `ask` answers SQL over one run.
    """
    if not _NAMED.search(text):
        return []
    bounded = [str(name) for (name,) in ask(_BOUNDED)]
    return [name for name in bounded if re.search(rf'\bmetric\."?{re.escape(name)}\b', text)]


def planned_metrics(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    """Return the name and the SQL of each metric, from the store's table of metrics."""
    return connection.execute(_METRICS).fetchall()


def create_views(connection: duckdb.DuckDBPyConnection, metrics: Iterable[tuple[str, str]]) -> None:
    """Create the views of metrics. A view is left out if it can't be created.

    This happens if the connection lacks a function, if another version made the view's plan, or if the view's SQL is
    not a single statement that only reads.
    """
    import duckdb

    connection.execute("CREATE SCHEMA metric")
    for name, sql in metrics:
        with suppress(duckdb.Error, ResultsError):
            view = require_reading(connection, sql)
            if SUSTAINED_VIEW in sql:
                view = _with_doubts(_Answers(connection), view)
            connection.execute(f"CREATE VIEW {sql_name('metric', name)} AS {view}")


class _Answers(NamedTuple):
    connection: duckdb.DuckDBPyConnection

    def sql(self, text: str) -> QueryAnswer:
        return ask(self.connection, text)


def _with_doubts(store: _Answers, sql: str) -> str:
    """Return SQL that adds the columns `bound`, `decided` and `mark` to the values."""
    *dims, _ = store.sql(f"FROM ({sql}) LIMIT 0").columns
    names = [sql_name(dim) for dim in dims]
    found = doubts(store, sql).items()
    told = (
        [*map(_literal, keys), _literal(doubt.bound or None), str(doubt.decided), _literal(doubt.mark.strip())]
        for keys, doubt in found
    )
    rows = [f"({', '.join(each)})" for each in told]
    if not rows:
        return f"SELECT *, NULL::VARCHAR AS bound, true AS decided, NULL::VARCHAR AS mark FROM ({sql})"  # noqa: S608  # the plan's own
    same = " AND ".join(f"v.{name} IS NOT DISTINCT FROM d.{name}" for name in names) or "true"
    columns = ", ".join([*names, "bound", "decided", "mark"])
    beside = "d.bound::VARCHAR AS bound, coalesce(d.decided, true) AS decided, d.mark::VARCHAR AS mark"
    return (
        f"SELECT v.*, {beside} FROM ({sql}) AS v "  # noqa: S608  # the plan's own
        f"LEFT JOIN (VALUES {', '.join(rows)}) AS d({columns}) ON {same}"
    )


def _literal(key: DimKey | None) -> str:
    return "NULL" if key is None else sql_text(key) if isinstance(key, str) else repr(key)

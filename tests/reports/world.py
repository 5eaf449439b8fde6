"""Made-up plans and stores for the report tests: real tables and views in memory, with generated numbers."""

# ruff: noqa: S608  # the SQL is over made-up tables, of names in these files

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from benchbrief.extensions.tools.db_bench.db_bench_output import say
from benchbrief.model import plan as p
from benchbrief.results.build_store import arrow_schema
from benchbrief.results.store import store_schema as s
from benchbrief.results.store.measure_views import create_measures
from benchbrief.results.store.store import Store
from benchbrief.results.store.store_schema import Sentences
from benchbrief.results.store.user_query import QueryAnswer

RUN = "20260314-091500-quickstart"
HERE = p.Origin(file="brief.bench", line=1, column=1)
STAND_IN = (
    "the server is mongo-java-server 1.47.0 with its memory backend, a stand-in that speaks MongoDB's wire protocol"
)


def make_store(rows: Iterable[tuple[Any, ...]]) -> Store:
    """Return a store with these rows, which are the schema's named tuples. The same rows give the same store."""
    found: list[Any] = list(rows)
    found += Sentences(found).rows(RUN)
    return _made_once(tuple((type(row), row) for row in found))


class _Remembering(Store):
    """A store that caches its answers and stays open, because many tests send the same queries to rows that never
    change."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._answered: dict[str, QueryAnswer] = {}
        super().__init__(connection, Path("unused"))

    def sql(self, text: str) -> QueryAnswer:
        if text not in self._answered:
            self._answered[text] = super().sql(text)
        return self._answered[text]

    def close(self) -> None:
        """Do nothing, because the next test uses the same store."""


@lru_cache(maxsize=24)
def _made_once(found: tuple[tuple[type, Any], ...]) -> Store:
    connection = duckdb.connect(":memory:")
    connection.execute(_tables())
    own: dict[type, list[Any]] = {}
    for kind, row in found:
        own.setdefault(kind, []).append(row)
    for name, row_type in s.TABLES.items():
        if row_type in own:
            columns = _columns(row_type)
            arrays = [pa.array([row[i] for row in own[row_type]], type=f.type) for i, f in enumerate(columns)]
            connection.register("incoming", pa.Table.from_arrays(arrays, schema=columns))
            connection.execute(f"INSERT INTO {name} FROM incoming")
            connection.unregister("incoming")
    create_measures(connection)
    return _Remembering(connection)


_columns = cache(arrow_schema)


@cache
def _tables() -> str:
    """Return the SQL that makes the empty tables."""
    with duckdb.connect(":memory:") as connection:
        for name, row_type in s.TABLES.items():
            connection.register("incoming", _columns(row_type).empty_table())
            connection.execute(f"CREATE TABLE {name} AS FROM incoming")
            connection.unregister("incoming")
        made = connection.execute("SELECT sql FROM duckdb_tables()").fetchall()
    return "\n".join(sql for (sql,) in made)


# --- queries, as the compiler would write them -------------------------------------------------------------------


def sql_text(value: str | float) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else f"{value:g}"


def where(fixed: Mapping[str, str | float]) -> str:
    return "\nWHERE " + " AND ".join(f"c.{d} = {sql_text(v)}" for d, v in fixed.items()) if fixed else ""


def measured(view: str, match: str, conditions: str, value: str, dims: Sequence[str], fixed: Mapping[str, Any]) -> str:
    """Return SQL that gives a base measure at every planned point, in the compiler's form. The value of a missing cell
    is NULL."""
    columns = "".join(f"c.{dim}, " for dim in dims)
    on = " AND ".join(f"m.{dim} = c.{dim}" for dim in match.split())
    return (
        f"SELECT {columns}{value} AS value\nFROM measure.cells AS c\nLEFT JOIN measure.{view} AS m\n"
        f"  ON {on} AND {conditions}{where(fixed)}\nGROUP BY ALL"
    )


def throughput(*dims: str, text: str = "throughput", **fixed: str | float) -> p.Query:
    """Return the query for the mean throughput over repeats."""
    match, conditions = "experiment hardware workload threads repeat", "m.phase IS NULL AND m.operation = 'all'"
    sql = measured("throughput", match, conditions, "avg(m.value)", dims, fixed)
    return query(sql, dims, "ops/s", text, reads=[read("throughput", **fixed)])


def latency(*dims: str, statistic: str = "p99", operation: str = "read", **fixed: str | float) -> p.Query:
    conditions = f"m.repeat IS NULL AND m.phase IS NULL AND m.operation = '{operation}' AND m.statistic = '{statistic}'"
    sql = measured("latency", "experiment hardware workload threads", conditions, "any_value(m.value)", dims, fixed)
    return query(
        sql, dims, "s", f"latency.{statistic}[{operation}]", reads=[read("latency", operation=operation, **fixed)]
    )


def read(view: str, **keys: Any) -> p.Read:
    probe = keys.pop("probe", "")
    held = {dim: (key,) for dim, key in keys.items()}
    return p.Read.model_validate({"measure": view, "view": view, "probe": probe, "keys": held})


def query(sql: str, dims: Sequence[str], unit: str, text: str, reads: Iterable[p.Read] = (), **known: bool) -> p.Query:
    """Return a query with this SQL. `reads` lists the measures that it reads."""
    return p.Query.model_validate(
        {
            "sql": sql,
            "dims": tuple(dims),
            "unit": unit,
            "text": text,
            "reads": tuple(reads),
            "divides": False,
            "signed": False,
            **known,
        }
    )


def ratio(
    above: p.Query, below: p.Query, unit: str, text: str, expression: str = "a.value / nullif(b.value, 0)"
) -> p.Query:
    """Return two joined queries with the same dims. `expression` combines `a.value` and `b.value`."""
    keys = f"USING ({', '.join(above.dims)})" if above.dims else "ON true"
    columns = "".join(f"{dim}, " for dim in above.dims)
    sql = f"SELECT {columns}{expression} AS value FROM ({above.sql}) AS a JOIN ({below.sql}) AS b {keys}"
    return query(
        sql,
        above.dims,
        unit,
        text,
        [*(above.reads or ()), *(below.reads or ())],
        divides=True,
        signed="-" in expression,
    )


def reduce(function: str, inner: p.Query, *over: str, text: str = "") -> p.Query:
    dims = [dim for dim in inner.dims if dim not in over]
    columns = "".join(f"{dim}, " for dim in dims)
    sql = f"SELECT {columns}{function}(value) AS value FROM ({inner.sql}) GROUP BY ALL"
    return query(sql, dims, inner.unit, text or f"{function}({inner.text} over {', '.join(over)})", inner.reads or ())


def constant(value: float, unit: str, text: str) -> p.Query:
    return query(f"SELECT {value!r}::DOUBLE AS value", (), unit, text)


def table_of(values: Mapping[str, float], dim: str, unit: str, text: str) -> p.Query:
    rows = ", ".join(f"({sql_text(key)}, {value!r}::DOUBLE)" for key, value in values.items())
    return query(f"SELECT * FROM (VALUES {rows}) AS t ({dim}, value)", (dim,), unit, text)


# --- the parts of a plan -----------------------------------------------------------------------------------------


def text(*parts: str | p.Value) -> p.Prose:
    return p.Prose(parts=parts)


def keys(values: Mapping[str, str] | Sequence[float]) -> tuple[p.LabelledKey, ...]:
    if isinstance(values, Mapping):
        return tuple(p.LabelledKey(value=k, label=v) for k, v in values.items())
    return tuple(p.LabelledKey(value=v, label=f"{v:g}") for v in values)


def series(mark: str, of: p.Query, label: str, x_dim: str | None = None, **more: Any) -> p.Series:
    return p.Series.model_validate({"mark": mark, "query": of, "label": label, "x_dim": x_dim, **more})


def figure(title: str, *found: p.Series, by: Mapping[str, tuple[p.LabelledKey, ...]], **more: Any) -> p.FigureElement:
    return p.FigureElement(title=title, series=found, keys=dict(by), **more)


def report(title: str, *elements: Any, **more: Any) -> p.Report:
    """Return a report that includes its disclosure, so that a test reads only one page."""
    made = {"name": "brief", "template": "technical_brief", "origin": HERE, "disclosure": "in_brief", **more}
    return p.Report(title=title, elements=elements, **made)


@dataclass
class World:
    """Hardware, databases, workloads and ramps of threads. Makes a plan, and the rows that a run would leave."""

    hardware: dict[str, str]
    workloads: dict[str, str]
    threads: tuple[int, ...] = (1, 2, 4)
    engine: str = "rocksdb"
    nodes: int = 1
    repeats: int = 1
    facts: dict[str, dict[str, p.Fact]] = field(default_factory=dict)
    observed: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    """The reasons why cells failed, by cell id."""
    stand_in: bool = False
    remarks: tuple[str, ...] = ()
    ops: Callable[[str, str, int], float] = lambda _hardware, _workload, threads: 1000.0 * threads
    p99: Callable[[str, str, int], float] = lambda _hardware, _workload, threads: 0.0004 * threads
    expects: tuple[p.Expect, ...] = ()

    def cell_id(self, hardware: str, workload: str, threads: int, repeat: int = 1) -> str:
        return f"ramp/{hardware}/{workload}/threads={threads}/{repeat}"

    def plan(self, *reports: p.Report) -> p.Plan:
        embedded = self.engine == "mongodb"
        tool = p.Tool(driver="ycsb" if embedded else "db_bench", path="/opt/tool")
        cells = [
            p.Cell(
                id=self.cell_id(h, w, t, r),
                hash=f"{h}{w}{t}{r}",
                experiment="ramp",
                hardware=h,
                database=p.DatabaseKey.of("db", h),
                workload=w,
                client="load" if embedded else None,
                load_hosts=("local",),
                tool=tool,
                threads=t,
                repeat=r,
                warm_up_s=60,
                measure_s=1200,
                dataset=None,
                steps=(),
                locks=("local",),
                origin=HERE,
            )
            for h in self.hardware
            for w in self.workloads
            for t in self.threads
            for r in range(1, self.repeats + 1)
        ]
        return p.Plan(
            spec=p.SpecRef(name="quickstart.bench", files={"quickstart.bench": "3f" * 32}, profile="smoke"),
            hosts={"local": p.Host(id="local", transport="local", name="localhost")},
            hardware={
                key: p.Hardware(
                    key=key,
                    label=label,
                    group="box",
                    group_label="Box",
                    hosts=("local",),
                    nodes=self.nodes,
                    facts=self.facts.get(key, {}),
                    origin=HERE,
                )
                for key, label in self.hardware.items()
            },
            clients={"load": p.Client(name="load", label="Load", hosts=("local",), tool=tool, origin=HERE)},
            databases={
                p.DatabaseKey.of("db", key): p.Database(
                    name="db",
                    label="MongoDB" if embedded else "RocksDB",
                    engine=self.engine,
                    server="embedded" if embedded else "none",
                    reset="reuse",
                    options={"compression": "none", "cache": 8388608.0, "sync": True},
                    origin=HERE,
                )
                for key in self.hardware
            },
            workloads={
                key: p.Workload(
                    name=key,
                    label=label,
                    description=label,
                    family="ycsb" if embedded else "db_bench",
                    benchmark=key,
                    properties={"records": 200000.0, "value_size": 400.0},
                    writes=True,
                    origin=HERE,
                )
                for key, label in self.workloads.items()
            },
            experiments={
                "ramp": p.Experiment(
                    name="ramp",
                    label="Thread ramp",
                    hardware=tuple(self.hardware),
                    workloads=tuple(self.workloads),
                    axis="threads",
                    points=self.threads,
                    warm_up_s=60,
                    measure_s=1200,
                    phases=1,
                    repeats=self.repeats,
                    order="grouped",
                    origin=HERE,
                )
            },
            cells=tuple(cells),
            expects=self.expects,
            reports=reports,
            estimate_s=60.0,
        )

    def rows(self) -> list[tuple[Any, ...]]:
        at = datetime(2026, 3, 14, 9, 15, tzinfo=UTC).replace(tzinfo=None)
        found: list[tuple[Any, ...]] = [
            s.RunRow(RUN, "quickstart.bench", "smoke", 1, "0.1.0", at, at, "failed" if self.failed else "done", None)
        ]
        tool = "ycsb" if self.engine == "mongodb" else "db_bench"
        found.append(s.FactRow(RUN, "tool", None, "local", f"{tool}.version", f"{tool} 1.0", None, "observed"))
        for key in self.hardware:
            found += [s.FactRow(RUN, "host", key, "local", n, v, None, "observed") for n, v in self.observed.items()]
            found.append(s.FactRow(RUN, "database", key, f"db@{key}", "version", "7.8.3", None, "observed"))
            if self.stand_in:
                found.append(s.FactRow(RUN, "database", key, f"db@{key}", "stand_in", STAND_IN, None, "observed"))
        for cell in self.plan().cells:
            reason = self.failed.get(cell.id)
            found.append(
                s.CellRow(
                    RUN,
                    cell.id,
                    cell.hash,
                    "ramp",
                    cell.hardware,
                    cell.database,
                    cell.workload,
                    cell.levels,
                    cell.threads,
                    None,
                    cell.repeat,
                    "failed" if reason else "ok",
                    reason,
                    1,
                    at,
                    1200.0,
                    60.0,
                    f"raw/{cell.id.replace('/', '_')}/1",
                    "brief.bench:1:1",
                )
            )
            if reason is None:
                ops = self.ops(cell.hardware, cell.workload, cell.threads or 0) * (1 + 0.04 * (cell.repeat - 1))
                found.append(s.ThroughputRow(RUN, cell.id, None, "all", ops, int(ops * 1200), 0, 1200.0, None))
                histogram = (s.HistogramBucket(0.0, 0.001, 100),)
                found.append(
                    s.OperationRow(
                        RUN, cell.id, None, "local", "read", "service", 100, 0, 4e-4, 1e-5, 9e-3, histogram, None
                    )
                )
                if cell.repeat == 1:
                    p99 = self.p99(cell.hardware, cell.workload, cell.threads or 0)
                    found.append(
                        s.LatencyRow(
                            RUN,
                            "ramp",
                            cell.hardware,
                            cell.workload,
                            cell.levels,
                            cell.threads,
                            None,
                            None,
                            None,
                            None,
                            "read",
                            "service",
                            "p99",
                            p99,
                            "histogram",
                            1,
                            None,
                        )
                    )
        found += [s.NoteRow(RUN, None, "warning", text, "brief.bench:1:1") for text in self.remarks]
        found += [s.NoteRow(RUN, c.id, "warning", say.assertions(), "db_bench") for c in self.plan().cells]
        return found

    def store(self) -> Store:
        return make_store(self.rows())


def saturating(top: float, half: float) -> Callable[[int], float]:
    """Return a throughput that levels off at `top`. It is half of `top` at `half` threads."""
    return lambda threads: top * threads / (threads + half)


def wobble(*seed: object) -> float:
    """Return a few per cent of repeatable variation."""
    return 1 + 0.03 * math.sin(sum(map(ord, "".join(map(str, seed)))))

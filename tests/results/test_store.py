"""Tests reading the store: plans' queries, users' SQL, and readers during a build."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow
import pytest

from benchbrief.model.measurement import Operation
from benchbrief.model.plan import Metric
from benchbrief.results import build_store
from benchbrief.results.build_store import STORE, rebuild
from benchbrief.results.open_store import fresh_store, open_store
from benchbrief.results.store.store import KeyedValue, Store
from benchbrief.results.store.store_schema import SCHEMA_VERSION, TABLES
from benchbrief.results.store_errors import NoRoom, ResultsError
from tests.results.making import HERE, RunMaker, a_cell, a_plan, a_query, a_read, histogram, measurement
from tests.support.nights import PLUGIN, plain_tools

READ = Operation("read", 100, mean_s=0.002, min_s=0.001, max_s=0.008, histogram=histogram((0.001, 0.002, 100)))
TOTALS = "SELECT hardware, threads, value FROM measure.throughput WHERE operation = 'all'"


def ramp(tmp_path: Path, name: str = "run") -> RunMaker:
    """Make a run with nvme before hdd in the plan: 10 and 20 ops/s on nvme, 5 ops/s and a failure on hdd."""
    cells = [a_cell(hardware=h, threads=t) for h in ("nvme", "hdd") for t in (1, 2)]
    run = RunMaker(tmp_path / name, a_plan(cells))
    for cell, count in zip(cells[:3], (100, 200, 50), strict=True):
        run.ok(cell, {"load-1": measurement([READ], count=count)})
    run.failed(cells[3], "disk full")
    run.end("failed", "1 of 4 cells failed")
    return run


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run that tests only query."""
    folder = tmp_path_factory.mktemp("asked")
    with plain_tools():
        run = ramp(folder)
        rebuild(run.run_dir)
    return run.run_dir


@pytest.fixture(scope="module")
def answering(asked: Path) -> Iterator[Store]:
    """Yield a store that answers many tests. That a store stays as it is, is one of them."""
    with open_store(asked) as store:
        yield store


def test_a_query_gives_its_dims_and_value_in_the_order_of_the_plan(tmp_path: Path) -> None:
    with open_store(ramp(tmp_path).run_dir) as store:
        found = store.query(a_query(TOTALS, "hardware", "threads"))
    assert found == [("nvme", 1, 10.0), ("nvme", 2, 20.0), ("hdd", 1, 5.0)]
    assert found[0].keys == ("nvme", 1.0)
    assert found[0].value == 10.0
    assert found[0].reason is None


def test_a_missing_value_has_the_reason_of_the_cell_behind_it(tmp_path: Path) -> None:
    sql = (
        "SELECT hardware, threads, value FROM measure.cells LEFT JOIN "
        "(FROM measure.throughput WHERE operation = 'all') USING (hardware, threads)"
    )
    with open_store(ramp(tmp_path).run_dir) as store:
        found = store.query(a_query(sql, "hardware", "threads"))
    assert (found[-1].keys, found[-1].value) == (("hdd", 2), None)
    assert found[-1].reason == "ramp/hdd/a/threads=2/repeat=1 failed: disk full"


def test_a_plan_without_the_reads_of_its_queries_has_reasons_by_their_keys(tmp_path: Path) -> None:
    sql = "SELECT hardware, threads, NULL::DOUBLE AS value FROM measure.cells"
    query = a_query(sql, "hardware", "threads").model_copy(update={"reads": None})
    with open_store(ramp(tmp_path).run_dir) as store:
        reasons = [row.reason or "" for row in store.query(query)]
    assert reasons[-1] == "ramp/hdd/a/threads=2/repeat=1 failed: disk full"
    assert all("an earlier benchbrief's" in reason for reason in reasons[:-1])


def test_floats_are_added_in_one_order_so_that_a_brief_has_the_same_bytes_each_time(tmp_path: Path) -> None:
    with open_store(ramp(tmp_path).run_dir) as store:
        assert store.sql("SELECT current_setting('threads')").rows == ((1,),)


def test_means_are_kept_for_a_question_that_is_answered_and_for_no_other(tmp_path: Path) -> None:
    kind = "SELECT table_type FROM information_schema.tables WHERE table_schema = 'measure' AND table_name = 'mean'"
    with open_store(ramp(tmp_path).run_dir) as store:
        with pytest.raises(ResultsError):
            store.sql("DROP VIEW measure.mean")
        assert list(store.sql(kind)) == [("VIEW",)]
        store.sql("FROM measure.mean")
        assert list(store.sql(kind)) == [("BASE TABLE",)]


def test_a_value_that_is_missing_though_all_was_measured_has_the_reason_of_its_query(tmp_path: Path) -> None:
    sql = "SELECT hardware, NULL::DOUBLE AS value FROM measure.cells GROUP BY hardware"
    query = a_query(sql, "hardware").model_copy(update={"absent": "no steady state was reached"})
    with open_store(ramp(tmp_path).run_dir) as store:
        reasons = {row.keys: row.reason for row in store.query(query)}
    assert reasons["nvme",] == "no steady state was reached"
    assert str(reasons["hdd",]).endswith("failed: disk full")


def test_a_measured_point_without_a_value_is_not_called_unmeasured(tmp_path: Path) -> None:
    run = RunMaker(tmp_path / "run", a_plan([cell := a_cell(hardware="nvme")]))
    run.ok(cell, {"load-1": measurement([Operation("read", 10, mean_s=0.1)])})
    read = a_read("throughput", hardware="nvme")
    nothing = "SELECT 'nvme' AS hardware, NULL::DOUBLE AS value"
    divided = "SELECT 'nvme' AS hardware, 1.0 / nullif(0.0, 0) AS value"
    elsewhere = a_read("throughput", hardware="hdd")
    with open_store(run.run_dir) as store:
        reasons = [
            next(iter(store.query(a_query(sql, "hardware", reads=[of]).model_copy(update={"divides": divides})))).reason
            for sql, of, divides in (
                (nothing, read, False),
                (divided, read, True),
                (divided, read, None),  # a plan from before it was kept
                (nothing, elsewhere, False),
            )
        ]
    assert reasons == [
        "the measurements give no such value",
        "a divisor is zero, or the measurements give no such value",
        "a divisor is zero, or the measurements give no such value",
        "not measured",
    ]


def test_a_statistic_that_could_not_be_merged_says_so(tmp_path: Path) -> None:
    cells = [a_cell(repeat=1), a_cell(repeat=2)]
    run = RunMaker(tmp_path / "run", a_plan(cells))
    for cell in cells:
        run.ok(cell, {"load-1": measurement([Operation("read", 10, mean_s=0.1, printed=((99.0, 0.2),))])})
    sql = "SELECT threads, value FROM measure.latency WHERE statistic = 'p99' AND repeat IS NULL"
    with open_store(run.run_dir) as store:
        (row,) = store.query(a_query(sql, "threads", reads=[a_read("latency", statistic="p99")]))
    assert (row.keys, row.value) == ((4,), None)
    assert row.reason == "printed percentiles can't be merged"


def test_a_reason_is_that_of_the_cells_the_query_names(tmp_path: Path) -> None:
    cells = [a_cell(hardware="nvme"), a_cell(hardware="hdd")]
    run = RunMaker(tmp_path / "run", a_plan(cells))
    run.failed(cells[0], "no such device")
    run.failed(cells[1], "no route to host")
    sql = "SELECT max(value) AS value FROM measure.throughput WHERE hardware = '{}'"
    with open_store(run.run_dir) as store:
        queries = [a_query(sql.format(name), reads=[a_read(hardware=name)]) for name in ("nvme", "hdd")]
        reasons = [store.query(query)[0].reason for query in queries]
        (both,) = store.query(a_query("SELECT max(value) AS value FROM measure.throughput"))
    assert reasons == [
        "ramp/nvme/a/threads=4/repeat=1 failed: no such device",
        "ramp/hdd/a/threads=4/repeat=1 failed: no route to host",
    ]
    assert both.reason == "ramp/nvme/a/threads=4/repeat=1 failed: no such device (and 1 more)"


@pytest.mark.parametrize("expression", ["1.0 / 0", "'nan'::DOUBLE"])
def test_a_division_by_zero_is_missing_and_not_infinite(tmp_path: Path, expression: str) -> None:
    with open_store(ramp(tmp_path).run_dir) as store:
        assert store.query(a_query(f"SELECT {expression} AS value")) == [KeyedValue((), None)]
        assert store.query(a_query(f"SELECT {expression} AS value"))[0].reason == "divided by zero"


def test_a_query_of_another_shape_than_it_says_is_refused(tmp_path: Path) -> None:
    with open_store(ramp(tmp_path).run_dir) as store, pytest.raises(ResultsError, match="gives 3 columns, not 2"):
        store.query(a_query(TOTALS, "hardware"))


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("COPY (SELECT 1) TO '{file}'", "COPY is not allowed"),
        ("COPY cells FROM '{file}'", "COPY is not allowed"),
        ("ATTACH '{file}'", "ATTACH is not allowed"),
        ("INSERT INTO cells SELECT * FROM cells", "INSERT is not allowed"),
        ("DELETE FROM cells", "DELETE is not allowed"),
        ("UPDATE throughput SET ops_per_s = 1e9", "UPDATE is not allowed"),
        ("DROP TABLE cells", "DROP is not allowed"),
        ("CREATE TEMP TABLE x AS SELECT 1", "CREATE is not allowed"),
        ("SET enable_external_access = true", "SET is not allowed"),
        ("RESET lock_configuration", "SET is not allowed"),
        ("PRAGMA database_size", "PRAGMA is not allowed"),
        ("CALL duckdb_settings()", "CALL is not allowed"),
        ("INSTALL httpfs", "LOAD is not allowed"),
        ("EXPORT DATABASE '{file}'", "EXPORT is not allowed"),
        ("EXPLAIN ANALYZE INSERT INTO cells SELECT * FROM cells", "a query can't change the results"),
        ("SELECT * FROM read_csv('/etc/passwd')", "a query can't reach files"),
        ("SELECT * FROM read_text('/etc/passwd')", "a query can't reach files"),
        ("SELECT * FROM glob('/etc/*')", "a query can't reach files"),
        ("FROM '/etc/passwd'", "there is no table or view `/etc/passwd`"),
        ("FROM query('DELETE FROM cells')", "this is not SQL: Expected a single SELECT statement"),
        ("SELECT 1; SELECT 2", "these are 2 SQL statements"),
        ("SELECT 1; DROP TABLE cells", "these are 2 SQL statements"),
        ("-- nothing", "the query is empty"),
        ("SELCT 1", "this is not SQL at `SELCT`"),
        ("SELECT nope FROM cells", "there is no column `nope` in `cells`"),
        ("SELECT now()", "a time with a time zone can't be shown"),
        ("FROM nope", "there is no table or view `nope`"),
        ("PIVOT cells ON hardware USING count(*)", "this PIVOT needs its columns named"),
    ],
)
def test_sql_that_can_not_be_answered_gets_one_clear_line(
    answering: Store, tmp_path: Path, sql: str, message: str
) -> None:
    file = tmp_path / "file"
    with pytest.raises(ResultsError) as raised:
        answering.sql(sql.format(file=file))
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)
    assert raised.value.hint
    assert not file.exists()
    assert list(answering.sql("SELECT count(*), max(measured_s) FROM cells")) == [(4, 10.0)]


def test_a_wrong_column_is_answered_with_those_that_are_like_it(tmp_path: Path) -> None:
    with open_store(ramp(tmp_path).run_dir) as store, pytest.raises(ResultsError) as raised:
        store.sql("SELECT op_per_s FROM throughput")
    assert "`ops_per_s`" in raised.value.hint


def test_python_variables_are_not_tables(tmp_path: Path) -> None:
    secret = pyarrow.table({"x": [42]})
    assert secret.num_rows == 1
    with (
        open_store(ramp(tmp_path).run_dir) as store,
        pytest.raises(ResultsError, match="there is no table or view `secret`"),
    ):
        store.sql("FROM secret")


@pytest.mark.parametrize(
    "sql",
    [
        "DESCRIBE cells",
        "SHOW ALL TABLES",
        "SUMMARIZE throughput",
        "EXPLAIN SELECT 1",
        "EXPLAIN ANALYZE SELECT 1",
        "WITH x AS (SELECT 1) FROM x",
        "FROM measure.sample",
        "FROM measure.mean",
        "FROM measure.spread",
        "FROM samples",
        "VALUES (1), (2)",
    ],
)
def test_a_query_that_only_reads_is_answered(answering: Store, sql: str) -> None:
    table = answering.sql(sql)
    assert table.columns
    assert len(table.types) == len(table.columns)


def test_a_run_in_a_folder_with_an_odd_name_is_read(tmp_path: Path) -> None:
    run = ramp(tmp_path, name="it's [1] * {a,b} ü")
    with open_store(run.run_dir) as store:
        assert len(store.sql("FROM cells")) == 4
        assert len(store.sql("FROM operations")) == 3
        assert len(store.sql("FROM samples")) == 0


def test_names_with_quotes_come_back_as_they_are(tmp_path: Path) -> None:
    odd = 'O\'Brien "x"; DROP TABLE cells --'
    cell = a_cell(hardware=odd)
    run = RunMaker(tmp_path / "run", a_plan([cell]))
    run.failed(cell, 'it said "no" to O\'Brien')
    with open_store(run.run_dir) as store:
        sql = "SELECT hardware, NULL AS value FROM measure.cells"
        (row,) = store.query(a_query(sql, "hardware"))
    assert row.keys == (odd,)
    assert row.reason == f'{cell.id} failed: it said "no" to O\'Brien'


@pytest.mark.usefixtures("duckdb_file")
def test_the_duckdb_file_stands_alone(tmp_path: Path) -> None:
    run = ramp(tmp_path)
    rebuild(run.run_dir)
    elsewhere = tmp_path / "copied.duckdb"
    (run.run_dir / "store" / "results.duckdb").rename(elsewhere)
    for parquet in (run.run_dir / "store").glob("*.parquet"):
        parquet.unlink()
    with duckdb.connect(str(elsewhere), read_only=True) as connection:
        assert connection.execute(TOTALS + " ORDER BY ALL").fetchall() == [
            ("hdd", 1, 5.0),
            ("nvme", 1, 10.0),
            ("nvme", 2, 20.0),
        ]


def test_a_rebuild_leaves_only_whole_files(tmp_path: Path) -> None:
    run_dir = ramp(tmp_path).run_dir
    rebuild(run_dir)
    store = run_dir / STORE
    assert {path.name for path in store.iterdir()} == {
        *(f"{t}.parquet" for t in TABLES),
        "results.duckdb",
        "manifest.json",
        ".lock",
    }


@pytest.mark.parametrize("damage", ["missing", "cut", "empty", "older"])
def test_a_store_that_can_not_be_read_is_built_again(tmp_path: Path, damage: str) -> None:
    run = ramp(tmp_path)
    rebuild(run.run_dir)
    store = run.run_dir / STORE
    table = store / "throughput.parquet"
    if damage == "missing":
        table.unlink()
    elif damage == "cut":
        table.write_bytes(table.read_bytes()[:-20])
    elif damage == "empty":
        table.write_bytes(b"")
    else:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("benchbrief.results.build_store.SCHEMA_VERSION", 0)
            rebuild(run.run_dir)
    with open_store(run.run_dir) as found:
        assert len(found.query(a_query(TOTALS, "hardware", "threads"))) == 3
        assert list(found.sql("SELECT schema_version FROM meta")) == [(SCHEMA_VERSION,)]


def test_a_store_half_renamed_by_a_killed_builder_is_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ramp(tmp_path)
    rebuild(run.run_dir)
    store = run.run_dir / STORE
    old = (store / "cells.parquet").read_bytes()
    rebuild(run.run_dir)
    (store / "cells.parquet").write_bytes(old)
    monkeypatch.setattr("benchbrief.results.open_store._SETTLE_S", 0.05)
    with open_store(run.run_dir) as found:
        assert len(found.sql("FROM cells")) == 4


def test_a_store_is_fresh_when_the_journal_has_grown(tmp_path: Path) -> None:
    cells = [a_cell(threads=1), a_cell(threads=2)]
    run = RunMaker(tmp_path / "run", a_plan(cells))
    run.ok(cells[0], {"load-1": measurement([READ])})
    with fresh_store(run.run_dir) as store:
        assert len(store.sql("FROM measure.throughput WHERE operation = 'all'")) == 1
    run.ok(cells[1], {"load-1": measurement([READ])})
    with open_store(run.run_dir) as store:
        assert len(store.sql("FROM measure.throughput WHERE operation = 'all'")) == 1
    with fresh_store(run.run_dir) as store:
        assert len(store.sql("FROM measure.throughput WHERE operation = 'all'")) == 2


@pytest.mark.usefixtures("duckdb_file")
def test_a_store_that_can_not_be_written_says_so(tmp_path: Path) -> None:
    run = ramp(tmp_path)
    (run.run_dir / "store").write_bytes(b"a file where the folder should be")
    with pytest.raises(ResultsError, match="store can't be written"):
        rebuild(run.run_dir)


def test_a_folder_that_is_no_run_is_named(tmp_path: Path) -> None:
    from benchbrief.runners.errors import RunnerError

    with pytest.raises(RunnerError, match="has no results: it never began"):
        open_store(tmp_path)


READER = """
import json, sys
from pathlib import Path
from benchbrief.results.open_store import open_store
run, times = Path(sys.argv[1]), int(sys.argv[2])
seen = set()
for _ in range(times):
    with open_store(run) as store:
        seen.add(json.dumps(list(store.sql(
            "SELECT count(*), count(DISTINCT cell_id), sum(ops_per_s), (SELECT count(*) FROM operations) "
            "FROM throughput JOIN cells USING (run_id, cell_id)"
        ))))
print(json.dumps(sorted(seen)))
"""


@pytest.mark.usefixtures("duckdb_file")
@pytest.mark.long
def test_two_processes_read_while_a_third_rebuilds(tmp_path: Path) -> None:
    run = ramp(tmp_path)
    rebuild(run.run_dir)
    env = {**os.environ, "PYTHONPATH": str(PLUGIN)}
    readers = [
        subprocess.Popen(
            [sys.executable, "-c", READER, str(run.run_dir), "5"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=env,
        )
        for _ in range(2)
    ]
    # A user's own tool holds the DuckDB file as a writer all the while.
    with duckdb.connect(str(run.run_dir / "store" / "results.duckdb")):
        builds = 0
        while any(reader.poll() is None for reader in readers):
            rebuild(run.run_dir)
            builds += 1
    for reader in readers:
        out, err = reader.communicate(timeout=30)
        assert reader.returncode == 0, err
        (only,) = json.loads(out)
        assert json.loads(only) == [[7, 4, 65.0, 3]]
    assert builds > 1


def test_two_builders_take_turns(tmp_path: Path) -> None:
    run = ramp(tmp_path)
    code = "from pathlib import Path; from benchbrief.results.build_store import rebuild; import sys\n"
    code += "for _ in range(2): rebuild(Path(sys.argv[1]))"
    env = {**os.environ, "PYTHONPATH": str(PLUGIN)}
    builders = [subprocess.Popen([sys.executable, "-c", code, str(run.run_dir)], env=env) for _ in range(2)]
    assert [builder.wait(timeout=60) for builder in builders] == [0, 0]
    with open_store(run.run_dir) as store:
        assert len(store.sql("FROM cells")) == 4


def test_a_store_stays_usable_after_an_error(tmp_path: Path) -> None:
    with open_store(ramp(tmp_path).run_dir) as store:
        for _ in range(3):
            with pytest.raises(ResultsError):
                store.sql("SELECT nope FROM cells")
        assert isinstance(store, Store)
        assert len(store.sql("FROM cells")) == 4


@pytest.mark.usefixtures("duckdb_file")
def test_a_metric_of_the_spec_is_a_view(tmp_path: Path) -> None:
    run = ramp(tmp_path)
    sql = "SELECT hardware, max(value) AS value FROM measure.throughput WHERE operation = 'all' GROUP BY hardware"
    fitted = "SELECT bench_half_width(list(value)) AS value FROM measure.throughput WHERE operation = 'all'"
    metrics = [
        Metric(name="best", label="Best", better="higher", query=a_query(sql, "hardware"), origin=HERE),
        Metric(name="width", label="Width", better=None, query=a_query(fitted), origin=HERE),
    ]
    plan = run.plan.model_copy(update={"metrics": tuple(metrics)})
    again = RunMaker(tmp_path / "with metrics", plan)
    for cell, count in zip(plan.cells, (100, 200, 50, 50), strict=True):
        again.ok(cell, {"load-1": measurement([READ], count=count)})
    with open_store(again.run_dir) as store:
        assert sorted(store.sql("SELECT * FROM metric.best")) == [("hdd", 5.0), ("nvme", 20.0)]
        assert store.sql('SELECT value > 0 FROM "metric".width').rows == ((True,),)
        assert list(store.sql("SELECT name, unit, dims, expression FROM metrics ORDER BY name")) == [
            ("best", "ops/s", "hardware", "throughput"),
            ("width", "ops/s", "", "throughput"),
        ]
        with store.batches("FROM metric.best") as batches:
            assert batches.read_all().num_rows == 2
    with open_store(again.run_dir) as store:
        assert {"best", "width"} <= {name for _, schema, name, *_ in store.sql("SHOW ALL TABLES") if schema == "metric"}
    with duckdb.connect(str(again.run_dir / "store" / "results.duckdb"), read_only=True) as connection:
        assert sorted(connection.execute("FROM metric.best").fetchall()) == [("hdd", 5.0), ("nvme", 20.0)]


def test_only_latencies_are_merged_over_repeats_and_rates_have_their_spread(tmp_path: Path) -> None:
    cells = [a_cell(repeat=1), a_cell(repeat=2)]
    run = RunMaker(tmp_path / "run", a_plan(cells))
    for cell, count in zip(cells, (100, 200), strict=True):
        run.ok(cell, {"load-1": measurement([READ], count=count)})
    with open_store(run.run_dir) as store:
        assert len(store.sql("FROM measure.latency WHERE repeat IS NULL")) > 0
        for view in ("throughput", "errors", "sample", "mean", "cells"):
            assert len(store.sql(f"FROM measure.{view} WHERE repeat IS NULL")) == 0
        ((mean,),) = store.sql("SELECT mean FROM measure.spread WHERE operation = 'all'")
        assert mean == 15.0


@pytest.mark.usefixtures("duckdb_file")
def test_the_file_system_says_whether_a_database_that_can_not_be_written_has_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunMaker(tmp_path / "run", a_plan([cell := a_cell()]))
    run.ok(cell, {"load-1": measurement([Operation("read", 10, mean_s=0.1)])})

    def fail(*_: object) -> None:
        raise duckdb.IOException("Fichier trop grand")

    monkeypatch.setattr(build_store, "_copy_tables", fail)
    with pytest.raises(ResultsError, match="can't be written: Fichier trop grand") as refused:
        build_store.rebuild(run.run_dir)
    assert not isinstance(refused.value, NoRoom)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 20, before[1]))
    try:
        with pytest.raises(NoRoom, match="can't be written: File too large"):
            build_store.rebuild(run.run_dir)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

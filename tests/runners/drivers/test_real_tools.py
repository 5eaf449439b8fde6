"""Tests the drivers and engines together with real tools and servers, through the local transport."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from benchbrief.extensions.engines.mongodb.mongodb import MongoDB
from benchbrief.extensions.engines.rocksdb.rocksdb import RocksDB
from benchbrief.model.measurement import Measurement
from benchbrief.model.plan import Arrivals, Database, Workload
from benchbrief.runners.driver_contexts import CellContext
from benchbrief.runners.errors import BadOutput, LoadShort, ServerFailed
from benchbrief.runners.hosts import tool_discovery
from benchbrief.runners.hosts.host_connections import HostPool
from benchbrief.runners.plugins import driver
from benchbrief.runners.seams import Driver, Engine, Transport
from tests.support import cells
from tests.support.longer import longer
from tests.support.tools import built_tool, system_tool, tools_dir
from tests.support.wrapped import PROGRAMS


@pytest.fixture(autouse=True)
def jobs_of_our_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("BENCHBRIEF_TOOLS", f"{PROGRAMS}:{tools_dir()}")
    monkeypatch.setenv("PATH", str(PROGRAMS), prepend=":")
    monkeypatch.setattr(
        "benchbrief.extensions.engines.mongodb.mongo_client._SELECT_TIMEOUT_MS", 3000
    )  # of servers that are dead
    # No test here is about how fast the stand-in is.
    monkeypatch.setattr("benchbrief.extensions.engines.mongodb.mongo_stand_in.WARM_UP_S", 0.2)


@pytest.fixture
def needs_mongo() -> None:
    built_tool("mongo-stand-in")
    built_tool("ycsb")


class Bench:
    """The driver and the engine of one cell, set up as the executor does it."""

    def __init__(self, context: CellContext, hosts: HostPool, engine: Engine, folder: Path) -> None:
        self.transport: Transport = hosts["local"]
        self.driver: Driver = driver(context.cell.tool.driver)
        self.engine = engine
        self.folder = folder
        path = tool_discovery.find(self.transport, self.driver, None).path
        self.context = CellContext(context.plan, context.cell, path, engine.start())

    def load(self) -> None:
        cells.load(self.transport, self.driver, self.engine, self.context, self.folder / "load")

    def measure(self) -> Measurement:
        warm_up = self.driver.warm_up(self.context)
        if warm_up:
            cells.run_job(self.transport, warm_up, self.folder / "warm_up")
        output = cells.run_job(self.transport, self.driver.measure(self.context), self.folder / "measure")
        self.engine.healthy()
        return self.driver.parse(self.context, output)


@contextmanager
def bench(tmp_path: Path, workload: Workload, database: Database, tool: str, **more: float) -> Iterator[Bench]:
    settings = {name: int(value) if name in ("threads", "phases") else value for name, value in more.items()}
    context = cells.context(workload, database, driver=tool, **settings)  # type: ignore[arg-type]  # numbers by name
    with HostPool(context.plan, run_name=cells.OWN_RUN) as hosts:
        kind = RocksDB if database.engine == "rocksdb" else MongoDB
        engine: Engine = kind(context.plan, database, context.hardware, hosts)
        try:
            yield Bench(context, hosts, engine, tmp_path / "out")
        finally:
            engine.stop()


# --- db_bench ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with a complete load of 20,000 keys."""
    system_tool("db_bench")
    folder = tmp_path_factory.mktemp("rocks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder))
        with bench(folder, cells.db_bench("readrandom"), cells.rocksdb(folder / "db"), "db_bench") as made:
            assert not made.engine.holds(made.context.cell)
            made.load()
            assert made.engine.holds(made.context.cell)
    return folder / "db"


@pytest.mark.long
@pytest.mark.parametrize(
    ("benchmark", "operations"),
    [
        ("readrandom", {"read"}),
        *longer(
            ("readwhilewriting", {"read", "write"}),
            ("readrandomwriterandom", {"read", "write"}),
            ("seekrandom", {"seek"}),
            ("overwrite", {"write"}),
        ),
    ],
)
def test_db_bench_measures_a_loaded_database(
    loaded: Path, tmp_path: Path, benchmark: str, operations: set[str]
) -> None:
    own = shutil.copytree(loaded, tmp_path / "db")  # a database that another cell wrote to would be refused
    database = cells.rocksdb(own, compression="none", cache=2.0**20)
    seconds = 2 if benchmark == "readwhilewriting" else 1  # its writer writes little on a busy machine
    with bench(tmp_path, cells.db_bench(benchmark), database, "db_bench", measure_s=seconds) as made:
        assert made.engine.holds(made.context.cell)
        measurement = made.measure()
    assert {operation.operation for operation in measurement.operations} == operations
    assert measurement.total.seconds == pytest.approx(seconds, abs=0.5)
    assert measurement.total.count > 1000
    assert not [text for text in measurement.warnings if "found" in text], "the load left every key"
    counted = sum(interval.count for interval in measurement.intervals)
    assert counted <= measurement.total.count


def test_db_bench_warms_up_apart(loaded: Path, tmp_path: Path) -> None:
    database = cells.rocksdb(loaded)
    with bench(tmp_path, cells.db_bench("readrandom"), database, "db_bench", warm_up_s=1, measure_s=1) as made:
        assert "warm-up" in dict(made.measure().properties)
    assert (tmp_path / "out/warm_up/stdout").exists()


def test_an_empty_database_is_no_measurement(tmp_path: Path) -> None:
    system_tool("db_bench")
    empty = cells.rocksdb(tmp_path / "db")
    with (
        bench(tmp_path, cells.db_bench("readrandom"), empty, "db_bench", measure_s=1) as made,
        pytest.raises(BadOutput, match="found none of the"),
    ):
        made.measure()


@pytest.mark.long
def test_a_database_of_other_records_is_no_measurement(tmp_path: Path) -> None:
    database = cells.rocksdb(tmp_path / "db")
    with bench(tmp_path, cells.db_bench("readrandom", records=2000), database, "db_bench", measure_s=1) as made:
        made.load()
    for benchmark in ("readrandom", "readwhilewriting", "readrandomwriterandom"):
        more = cells.db_bench(benchmark, records=20_000)
        with (
            bench(tmp_path / benchmark, more, database, "db_bench", measure_s=1) as made,
            pytest.raises(BadOutput, match="the database is not the one that was loaded for this cell"),
        ):
            made.measure()


def test_an_option_that_db_bench_does_not_know_is_named(loaded: Path, tmp_path: Path) -> None:
    database = cells.rocksdb(loaded, no_such_flag=1.0)
    with (
        bench(tmp_path, cells.db_bench("readrandom"), database, "db_bench", measure_s=1) as made,
        pytest.raises(BadOutput, match="unknown command line flag 'no_such_flag'"),
    ):
        made.measure()


@pytest.mark.long
def test_a_benchmark_that_filled_the_directory_anew_leaves_no_reusable_data_set(tmp_path: Path) -> None:
    system_tool("db_bench")
    database = cells.rocksdb(tmp_path / "db")
    with bench(tmp_path / "1", cells.db_bench("readrandom", 1000), database, "db_bench") as made:
        made.load()
        assert made.engine.holds(made.context.cell)
    with bench(tmp_path / "2", cells.db_bench("fillrandom", 1000), database, "db_bench", measure_s=1) as filled:
        assert filled.measure().total.count >= 1000
    with bench(tmp_path / "3", cells.db_bench("readrandom", 1000), database, "db_bench") as made:
        assert not made.engine.holds(made.context.cell)


# --- YCSB and go-ycsb --------------------------------------------------------------------------------------------


Options = dict[str, str | float | bool]


def _with(options: Options) -> Database:
    return cells.embedded().model_copy(update={"options": options})


OPTIONS: Options = {"w": "majority", "journal": True, "maxPoolSize": 4.0, "compressors": "zlib"}


@pytest.mark.usefixtures("needs_mongo")
def test_ycsb_measures_inside_the_window_and_agrees_with_the_server(tmp_path: Path) -> None:
    workload = cells.ycsb("a", 500)
    with bench(tmp_path, workload, _with(OPTIONS), "ycsb", warm_up_s=1, measure_s=2) as made:
        made.load()
        assert made.engine.holds(made.context.cell)
        before = made.engine.counters()
        measurement = made.measure()
        after = made.engine.counters()
        made.context = replace(made.context, cell=made.context.cell.model_copy(update={"target": 100.0}))
        made.folder = tmp_path / "offered"
        offered = made.measure()
    assert measurement.total.seconds == pytest.approx(2, abs=0.5), "the window is made of whole seconds"
    assert measurement.tool_version == "YCSB 0.17.0"
    assert (tmp_path / "out/measure/command.txt").read_text().count("mongodb://") == 0
    for step in ("load", "measure"):
        kept = (tmp_path / "out" / step / "job.properties").read_text()
        assert "recordcount=500\n" in kept, "anyone can run the same client again"
        assert "mongodb://" not in kept
        assert kept.endswith("mongodb.url=***\n")
    served = sum(after[name] - before[name] for name in ("opcounters.query", "opcounters.update"))
    assert 0 < measurement.total.count < served, "the server also counts the warm-up"
    assert "-target 100" in (tmp_path / "offered/measure/command.txt").read_text()
    assert 50 < offered.total.ops_per_s < 200, "YCSB catches up in the window on what stalled before it"
    assert {operation.kind for operation in offered.operations} == {"service", "intended"}


@pytest.mark.long
@pytest.mark.usefixtures("needs_mongo")
@pytest.mark.parametrize("tool", [pytest.param("ycsb", marks=pytest.mark.long), "go_ycsb"])
def test_the_options_of_a_database_are_those_of_the_load_alone(tool: str, tmp_path: Path) -> None:
    """The load's client asks for TLS and does not get it, so the load fails. The controller's own connection still
    works."""
    if tool == "go_ycsb":
        built_tool("go-ycsb/bin/go-ycsb")
    tls: Options = {"tls": True, "serverSelectionTimeoutMS": 2000.0}
    with bench(tmp_path, cells.ycsb("a", 20), _with(tls), tool) as made:
        with pytest.raises((BadOutput, LoadShort), match=r"inserts|load|imeout"):
            made.load()
        made.engine.healthy()


@pytest.mark.long
@pytest.mark.usefixtures("needs_mongo")
def test_ycsb_names_a_server_that_was_killed_in_the_middle(tmp_path: Path) -> None:
    with bench(tmp_path, cells.ycsb("a", 200), cells.embedded(tmp_path / "data"), "ycsb", measure_s=3) as made:
        made.load()
        uri = made.context.endpoint.uri
        assert uri
        pid = int((tmp_path / "data/server.pid").read_text())
        killer = threading.Timer(2.5, os.kill, (pid, signal.SIGKILL))
        killer.start()
        job = made.driver.measure(made.context)
        (file,) = job.files
        # YCSB's driver would wait 30 s for the server to come back.
        short = replace(file, content=(*file.content[:-1], "?serverSelectionTimeoutMS=500\n"))
        impatient = replace(job, files=(short,))
        output = cells.run_job(made.transport, impatient, tmp_path / "out/measure")
        killer.join()
        assert output.exit_code == 0, "YCSB calls this a success"
        with pytest.raises(BadOutput, match=r"operations failed in YCSB|did no operations|measured"):
            made.driver.parse(made.context, output)
        with pytest.raises(ServerFailed, match="can't be reached"):
            made.engine.healthy()


@pytest.mark.long
@pytest.mark.usefixtures("needs_mongo")
def test_a_load_that_fell_short_is_an_error(tmp_path: Path) -> None:
    built_tool("go-ycsb/bin/go-ycsb")
    with bench(tmp_path, cells.ycsb("a", 300), cells.embedded(), "go_ycsb") as made:
        made.load()
        larger = made.context.cell.model_copy(
            update={
                "dataset": made.context.cell.dataset and made.context.cell.dataset.model_copy(update={"records": 301})
            }
        )
        with pytest.raises(LoadShort, match=r"301 records were to be loaded; .* says 300, and .* holds 300"):
            made.engine.loaded(larger, 300)
        assert not made.engine.holds(larger)


@pytest.mark.long
def test_go_ycsb_measures_until_it_is_interrupted(tmp_path: Path) -> None:
    built_tool("go-ycsb/bin/go-ycsb")
    built_tool("mongo-stand-in")
    with bench(tmp_path, cells.ycsb("a", 500), _with(OPTIONS), "go_ycsb", warm_up_s=1, measure_s=2) as made:
        made.load()
        measurement = made.measure()
    assert measurement.total.seconds == pytest.approx(2, abs=0.3)
    assert {operation.operation for operation in measurement.operations} == {"read", "update"}
    assert measurement.total.errors <= made.context.threads, "only what the interrupt cut off"
    assert all(operation.printed and operation.histogram is None for operation in measurement.operations)


@pytest.mark.long
def test_go_ycsb_can_be_stopped_with_all_that_it_started(tmp_path: Path) -> None:
    built_tool("go-ycsb/bin/go-ycsb")
    built_tool("mongo-stand-in")
    with bench(tmp_path, cells.ycsb("a", 500), cells.embedded(), "go_ycsb", measure_s=50) as made:
        made.load()
        running = made.transport.start(made.driver.measure(made.context))
        assert not running.wait(1)
        running.stop()
        output = running.collect(tmp_path / "out/stopped")
        running.discard()
        # `timeout` would have put the tool into a process group of its own, which nothing stops.
        ours = f"TMPDIR={tmp_path}\0".encode()
        processes = [path for path in Path("/proc").glob("[0-9]*") if ours in _read(path / "environ")]
        left = [path for path in processes if b"go-ycsb/bin/go-ycsb" in _read(path / "cmdline")]
        assert output.exit_code is None
        with pytest.raises(BadOutput, match="was stopped before it ended"):
            made.driver.parse(made.context, output)
        assert not left


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it has ended
        return b""


# --- measured loads ----------------------------------------------------------------------------------------------


def _load_of(workload: Workload) -> Workload:
    shape = {key: workload.properties[key] for key in ("records", "fields", "field_length")}
    return workload.model_copy(update={"phase": "load", "properties": {**shape, "insert": 1.0}})


@pytest.mark.usefixtures("needs_mongo")
@pytest.mark.parametrize("tool", [pytest.param("ycsb", marks=pytest.mark.long), "go_ycsb"])
def test_a_load_is_measured_to_its_last_record(tmp_path: Path, tool: str) -> None:
    built_tool("go-ycsb/bin/go-ycsb")
    load = _load_of(cells.ycsb("a", 1200))
    with bench(tmp_path, load, cells.embedded(), tool, measure_s=60, threads=4, target=600.0) as made:
        made.engine.reset(made.context.cell)
        measurement = made.measure()
        assert made.engine.counters()["opcounters.insert"] >= 1200
    (insert,) = [op for op in measurement.operations if op.kind == "service"]
    assert (insert.operation, insert.count, insert.errors) == ("insert", 1200, 0)
    assert measurement.total.count == 1200
    assert 1.5 < measurement.total.seconds < 30, "1200 records at 600 a second, or as fast as the machine can"
    assert measurement.total.ops_per_s == pytest.approx(1200 / measurement.total.seconds)


@pytest.mark.long
@pytest.mark.usefixtures("needs_mongo")
@pytest.mark.parametrize("tool", ["ycsb", pytest.param("go_ycsb", marks=pytest.mark.long)])
def test_a_load_is_measured_for_its_time_when_records_are_left(tmp_path: Path, tool: str) -> None:
    built_tool("go-ycsb/bin/go-ycsb")
    load = _load_of(cells.ycsb("a", 1_000_000))
    with bench(tmp_path, load, cells.embedded(), tool, measure_s=2, threads=2, target=500.0) as made:
        made.engine.reset(made.context.cell)
        measurement = made.measure()
    assert 1.7 <= measurement.total.seconds <= 3.2
    assert 0 < measurement.total.count < 10_000
    properties = dict(measurement.properties)
    if tool == "ycsb":
        assert properties["load"] == "for the measured time: records were left"


# --- tools that lie ----------------------------------------------------------------------------------------------

LIES = {
    "nothing": "exit 0",
    "an error": "echo 'fatal: cannot allocate a thread' >&2; exit 0",
    "half a line": "printf 'readrandom   :  10.2 micros/op 31\\n[OVERALL], RunTi\\nTOTAL  - Takes(s): 3.0, Co'",
    "another result": "echo 'readseq : 1.0 micros/op 5 ops/sec 1.0 seconds 5 operations;'; echo '[OVERALL], X, 5'",
}


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("tool", ["db_bench", "ycsb", "go_ycsb"])
def test_a_tool_that_exits_0_without_a_result_has_failed(tmp_path: Path, tool: str, lie: str) -> None:
    program = tmp_path / "bin" / "tool.sh"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{LIES[lie]}\n")
    program.chmod(0o755)
    if tool == "db_bench":
        context = cells.context(cells.db_bench("readrandom"), cells.rocksdb(tmp_path / "db"), tool_path=str(program))
    else:
        database = cells.attached("mongodb://127.0.0.1/ycsb")
        context = cells.context(cells.ycsb("c"), database, driver=tool, tool_path=str(program))
    chosen = driver(tool)
    with HostPool(context.plan, run_name=cells.OWN_RUN) as hosts:
        load = chosen.load(context)
        assert load
        loaded = cells.run_job(hosts["local"], load, tmp_path / "out/load")
        with pytest.raises(BadOutput):
            chosen.check_load(context, loaded)
        output = cells.run_job(hosts["local"], chosen.measure(context), tmp_path / "out/measure")
        assert output.exit_code == 0
        with pytest.raises(BadOutput) as caught:
            chosen.parse(context, output)
    if lie == "an error":
        assert "fatal: cannot allocate a thread" in str(caught.value)


# --- openload ----------------------------------------------------------------------------------------------------


def spaced(made: Bench, arrivals: Arrivals) -> None:
    """Run the cell's load with this spacing. Any lateness is accepted, because other tests keep this machine busy."""
    plan = made.context.plan
    experiment = made.context.experiment.model_copy(update={"arrivals": arrivals})
    made.context = replace(made.context, plan=plan.model_copy(update={"experiments": {"e": experiment}}))


@pytest.mark.long
def test_openload_offers_a_rate_and_refuses_one_that_is_not_kept_up(tmp_path: Path) -> None:
    built_tool("openload/bin/openload-mongodb")
    built_tool("mongo-stand-in")
    with bench(
        tmp_path, cells.ycsb("a", 500), cells.embedded(), "openload", threads=4, target=100, measure_s=3
    ) as made:
        made.load()
        spaced(made, Arrivals(kind="constant", lag=20.0))  # whatever else this machine does
        measurement = made.measure()
        assert measurement.total.ops_per_s == pytest.approx(100, rel=0.1)
        assert {(each.operation, each.kind) for each in measurement.operations} == {
            (name, kind) for name in ("read", "update") for kind in ("intended", "service")
        }
        assert sum(each.count for each in measurement.operations if each.in_total) == 300
        made.context = replace(
            made.context, cell=made.context.cell.model_copy(update={"target": 100_000.0, "measure_s": 1.0})
        )
        spaced(made, Arrivals(kind="constant", lag=20.0, queue=50))
        made.folder = tmp_path / "too much"
        with pytest.raises(BadOutput, match=r"openload refuses its own numbers \(drops\)"):
            made.measure()

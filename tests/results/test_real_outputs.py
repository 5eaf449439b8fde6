"""Compares the numbers in our store with those that db_bench itself printed."""

import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchbrief.model.plan import Cell, Plan, Step, Workload
from benchbrief.results.open_store import open_store
from benchbrief.results.store.store import Store
from benchbrief.runners.driver_contexts import CellContext, Endpoint
from benchbrief.runners.jobs.tasks import Job
from benchbrief.runners.plugins import driver
from tests.results.making import HERE, RunMaker, a_cell, a_plan
from tests.support.tools import system_tool

RECORDS = 5000


@dataclass(frozen=True)
class Recorded:
    """A run of db_bench with two repeats, and the output of each."""

    run_dir: Path
    printed: dict[int, str]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    tool = str(system_tool("db_bench"))
    folder = tmp_path_factory.mktemp("db_bench")
    steps = tuple(Step(kind=kind, seconds=1.0, timeout_s=60.0) for kind in ("load", "measure"))
    cells = [a_cell(repeat=r, driver="db_bench", threads=2, measure_s=1.0, warm_up_s=0.0, steps=steps) for r in (1, 2)]
    plan = over_rocksdb(a_plan(cells), folder / "db")
    run = RunMaker(folder / "run", plan)
    bench = driver("db_bench")
    load = bench.load(context(plan, cells[0], tool))
    assert load is not None
    execute(load, folder / "load")
    printed = {}
    for cell in cells:
        attempt = run.start(cell)
        started = time.time()
        files = execute(bench.measure(context(plan, cell, tool)), folder / f"measure-{cell.repeat}")
        run.collect(cell, attempt, "measure", "load-1", files, times=(started, time.time()))
        run.ended(cell, attempt, "ok")
        printed[cell.repeat] = files["stdout"].decode()
    run.end("done")
    return Recorded(run.run_dir, printed)


def over_rocksdb(plan: Plan, path: Path) -> Plan:
    workload = Workload(
        name="a",
        label="a",
        description="",
        family="db_bench",
        benchmark="readrandomwriterandom",
        properties={"records": RECORDS, "key_size": 16, "value_size": 100},
        writes=True,
        origin=HERE,
    )
    database = next(iter(plan.databases.values())).model_copy(
        update={"engine": "rocksdb", "server": "none", "path": str(path)}
    )
    return plan.model_copy(update={"workloads": {"a": workload}, "databases": dict.fromkeys(plan.databases, database)})


def context(plan: Plan, cell: Cell, tool: str) -> CellContext:
    return CellContext(plan, cell, tool, Endpoint(path=plan.databases[cell.database].path))


def execute(job: Job, folder: Path) -> dict[str, bytes]:
    folder.mkdir()
    words = [word for word in job.command.words if isinstance(word, str)]
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        subprocess.run(words, cwd=folder, stdout=out, stderr=err, check=True, timeout=job.timeout_s)
    wanted = ["stdout", "stderr", *job.collect]
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name in wanted}


def numbers(store: Store, sql: str) -> dict[int | None, float]:
    return dict(store.sql(sql))


def test_throughput_is_what_db_bench_printed(recorded: Recorded) -> None:
    with open_store(recorded.run_dir) as store:
        found = numbers(store, "SELECT repeat, value FROM measure.throughput WHERE operation = 'all'")
    assert set(found) == {1, 2}
    for repeat, text in recorded.printed.items():
        printed = re.search(r"^readrandomwriterandom\s*:.*?(\d+) ops/sec", text, re.MULTILINE)
        assert printed
        assert found[repeat] == pytest.approx(int(printed[1]), rel=0.001)


@pytest.mark.parametrize("operation", ["read", "write"])
@pytest.mark.parametrize(("statistic", "label"), [("p50", "P50"), ("p99", "P99"), ("p99.9", "P99.9")])
def test_percentiles_are_what_db_bench_printed(recorded: Recorded, operation: str, statistic: str, label: str) -> None:
    with open_store(recorded.run_dir) as store:
        rows = store.sql("SELECT operation, statistic, repeat, value FROM measure.latency")
    found = {repeat: value for *key, repeat, value in rows if key == [operation, statistic]}
    for repeat, text in recorded.printed.items():
        printed = re.search(rf"\b{re.escape(label)}: ([0-9.]+)", text.split(f"Microseconds per {operation}:")[1])
        assert printed
        assert found[repeat] * 1e6 == pytest.approx(float(printed[1]), rel=0.001, abs=0.01)


def test_the_merged_percentile_lies_between_those_of_the_repeats_and_covers_all_operations(recorded: Recorded) -> None:
    with open_store(recorded.run_dir) as store:
        p99 = numbers(store, "SELECT repeat, value FROM measure.latency WHERE operation = 'read' AND statistic = 'p99'")
        ((merged, separate),) = store.sql(
            "SELECT (SELECT sources FROM latency WHERE operation = 'read' AND statistic = 'p99' AND repeat IS NULL), "
            "(SELECT count(*) FROM operations WHERE operation = 'read')"
        )
    assert min(p99[1], p99[2]) <= p99[None] <= max(p99[1], p99[2])
    assert merged == separate == 2

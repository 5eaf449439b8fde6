"""Tests that the real load generators run against a real server or library, and fail as the drivers expect."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from pymongo import MongoClient

from tests.support.longer import longer
from tests.support.mongo import running_stand_in
from tests.support.tools import built_tool, system_tool, tools_dir

RECORDS = 1000


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, int]]:
    built_tool("mongo-stand-in/bin/mongo-stand-in")
    with running_stand_in(tools_dir()) as address:
        yield address


def run(program: Path, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [str(program), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=cwd)


def ycsb(phase: str, url: str, workload: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    home = built_tool("ycsb")
    file = str(home / "workloads" / workload)
    return run(home / "bin/ycsb.sh", phase, "mongodb", "-P", file, "-p", f"mongodb.url={url}", *arguments)


def returned(output: str, code: str) -> int:
    """Return the number of operations that ended with `code`, over all kinds of operation."""
    return sum(int(count) for count in re.findall(rf"^\[[A-Z-]+\], Return={code}, (\d+)$", output, re.MULTILINE))


SIZE = ("-p", "recordcount=200", "-p", "operationcount=200", "-threads", "2")


def load(server: tuple[str, int], database: str) -> str:
    """Load 200 records into a database of this name. Returns its URL."""
    url = "mongodb://{}:{}/{}".format(*server, database)
    loaded = ycsb("load", url, "workloada", *SIZE)
    with MongoClient[dict[str, object]](url) as client:
        record = client[database].usertable.find_one()
        assert client[database].usertable.count_documents({}) == 200
    assert record is not None
    assert sorted(record) == ["_id", *(f"field{number}" for number in range(10))]
    assert {len(value) for name, value in record.items() if isinstance(value, bytes)} == {100}
    assert returned(loaded.stdout, "OK") == 200
    return url


@pytest.fixture(scope="module")
def loaded(server: tuple[str, int]) -> str:
    """Return the URL of a loaded database that serves all workloads but one. Two workloads insert the same keys, so one
    of them needs another database."""
    return load(server, "standard")


@pytest.mark.long
@pytest.mark.parametrize("workload", ["a", *longer(*"bcdf")])
def test_ycsb_loads_and_runs_each_standard_workload(loaded: str, workload: str) -> None:
    runs_well(loaded, workload)


@pytest.mark.long
def test_ycsb_loads_and_scans(server: tuple[str, int]) -> None:
    runs_well(load(server, "scanned"), "e")


def runs_well(url: str, workload: str) -> None:
    ran = ycsb("run", url, f"workload{workload}", *SIZE)
    assert ran.returncode == 0
    assert "[OVERALL], Throughput(ops/sec), " in ran.stdout
    assert returned(ran.stdout, "OK") >= 200  # a read-modify-write is counted again as a read and an update
    assert returned(ran.stdout, "ERROR") == 0
    assert "FAILED" not in ran.stdout


@pytest.mark.long
def test_ycsb_writes_histograms_to_files_on_this_java(loaded: str, tmp_path: Path) -> None:
    prefix = tmp_path / "run-"
    files = ["-p", "hdrhistogram.fileoutput=true", "-p", f"hdrhistogram.output.path={prefix}"]
    done = ycsb("run", loaded, "workloada", "-p", "measurementtype=hdrhistogram", *SIZE, *files)
    assert returned(done.stdout, "OK") == 200
    assert "HISTFAAA" in Path(f"{prefix}READ.hdr").read_text()
    assert "HISTFAAA" in Path(f"{prefix}UPDATE.hdr").read_text()


def test_ycsb_counts_operations_on_a_missing_record_apart(server: tuple[str, int]) -> None:
    done = ycsb("run", "mongodb://{}:{}/empty".format(*server), "workloada")
    assert done.returncode == 0
    assert returned(done.stdout, "NOT_FOUND") == RECORDS
    assert "[READ-FAILED], Operations, " in done.stdout
    assert "[UPDATE-FAILED], Operations, " in done.stdout


@pytest.mark.long
def test_ycsb_goes_on_with_errors_when_inserts_fail(server: tuple[str, int]) -> None:
    url = "mongodb://{}:{}/twice".format(*server)
    ycsb("load", url, "workloada", "-p", "recordcount=1")
    again = ycsb("load", url, "workloada", "-p", "recordcount=1")
    assert returned(again.stdout, "ERROR") == 1
    assert "insert failed: " in again.stderr


def test_ycsb_says_that_there_is_no_server() -> None:
    done = ycsb("run", "mongodb://127.0.0.1:1/x?serverSelectionTimeoutMS=200", "workloada")
    assert "cannot use the server that mongodb.url names" in done.stderr
    assert returned(done.stdout, "OK") == 0


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["walk", "mongodb"], "Found unknown command 'walk'"),
        (["run", "redis"], "The binding 'redis' was not found"),
    ],
)
def test_ycsb_refuses_an_unknown_command_or_binding(arguments: list[str], reason: str) -> None:
    done = run(built_tool("ycsb/bin/ycsb.sh"), *arguments)
    assert done.returncode == 1
    assert reason in done.stdout


def test_go_ycsb_loads_and_runs(server: tuple[str, int]) -> None:
    program = built_tool("go-ycsb/bin/go-ycsb")
    settings = ["-p", "mongodb.url=mongodb://{}:{}/goycsb".format(*server), "-p", "workload=core"]
    settings += ["-p", f"recordcount={RECORDS}", "-p", f"operationcount={RECORDS}", "--threads", "2"]
    settings += ["-p", "readproportion=0.5", "-p", "updateproportion=0.5"]
    loaded = run(program, "load", "mongodb", *settings)
    assert re.search(rf"^INSERT +- Takes\(s\): .* Count: {RECORDS},", loaded.stdout, re.MULTILINE)
    ran = run(program, "run", "mongodb", *settings)
    assert ran.returncode == 0
    total = re.search(r"^TOTAL +- Takes\(s\): .* Count: (\d+),", ran.stdout.split("Run finished")[1], re.MULTILINE)
    assert total is not None
    assert int(total[1]) >= 0.98 * RECORDS  # it shows a few stray errors on healthy servers


def test_db_bench_fills_and_finds_what_it_filled(tmp_path: Path) -> None:
    program = system_tool("db_bench")
    settings = [f"--db={tmp_path}/db", f"--num={RECORDS}", "--compression_type=none"]
    filled = run(program, "--benchmarks=fillrandom", *settings, cwd=tmp_path)
    assert filled.returncode == 0
    assert re.search(rf"^fillrandom +: .* ops/sec .* {RECORDS} operations;", filled.stdout, re.MULTILINE)
    read = run(program, "--benchmarks=readseq", "--use_existing_db=1", *settings, cwd=tmp_path)
    assert re.search(r"^readseq +: .* [1-9]\d* operations;", read.stdout, re.MULTILINE)

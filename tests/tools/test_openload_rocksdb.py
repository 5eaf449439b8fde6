"""Tests openload-rocksdb on real databases, beside db_bench."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.longer import longer
from tests.support.openload import JUDGED_GENTLY, invariants_hold, openload
from tests.support.tools import system_tool

PROGRAM = "openload-rocksdb"
RECORDS = 5000


def db_bench(database: Path, benchmark: str, *flags: str) -> str:
    words = [str(system_tool("db_bench")), f"--db={database}", f"--benchmarks={benchmark}", f"--num={RECORDS}", *flags]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout


@pytest.fixture
def by_db_bench(tmp_path: Path) -> Path:
    db_bench(tmp_path / "db", "fillseq")
    return tmp_path / "db"


@pytest.mark.long
def test_it_reads_and_writes_what_db_bench_loaded_and_db_bench_what_it_wrote(by_db_bench: Path, tmp_path: Path) -> None:
    done = openload(
        f"run --db-path {by_db_bench} --record-count {RECORDS} --read 0.5 --update 0.3 --insert 0.2"
        f" --distribution latest --arrivals poisson --rate 1000 --duration 1 {JUDGED_GENTLY} --output {tmp_path}/run",
        PROGRAM,
    )
    assert done.code == 0, done.errors
    invariants_hold(done.final, tmp_path / "run")
    assert done.final["library"] == "librocksdb 7.8.3"
    assert {name: operation["not_found"] for name, operation in done.final["operations"].items()} == {
        "read": 0, "update": 0, "insert": 0,
    }  # fmt: skip
    inserted = done.final["operations"]["insert"]["completed"]
    everything = db_bench(by_db_bench, "readseq", "--use_existing_db=1", f"--reads={RECORDS + inserted}")
    assert f"{RECORDS + inserted} operations" in everything
    assert f"({RECORDS} of {RECORDS} found)" in db_bench(by_db_bench, "readrandom", "--use_existing_db=1")


def test_records_that_are_not_there_are_errors(by_db_bench: Path, tmp_path: Path) -> None:
    records = f"--db-path {by_db_bench} --record-count {RECORDS * 9 // 8}"
    run = f"run {records} --arrivals closed --operations 2000 {JUDGED_GENTLY}"
    done = openload(f"{run} --read 0.5 --read-modify-write 0.5 --output {tmp_path}/run", PROGRAM)
    assert done.code == 1
    assert [refusal["code"] for refusal in done.final["refusals"]] == ["errors", "not-found"]
    for operation in done.final["operations"].values():
        assert operation["not_found"] == operation["failed"]
        assert operation["failed"] / operation["started"] == pytest.approx(1 / 9, abs=0.05)
    invariants_hold(done.final, tmp_path / "run")
    assert done.final["errors"][0]["text"] == "no record was found under a key that was loaded or inserted"
    assert openload(f"{run} --read 1 --accept-errors 0.2 --output {tmp_path}/more", PROGRAM).code == 0


def test_db_bench_finds_what_it_loaded(tmp_path: Path) -> None:
    loaded = openload(f"load --db-path {tmp_path}/db --record-count {RECORDS} --output {tmp_path}/load", PROGRAM)
    assert (loaded.code, loaded.final["completed"]) == (0, RECORDS)
    assert f"({RECORDS} of {RECORDS} found)" in db_bench(tmp_path / "db", "readrandom", "--use_existing_db=1")


@pytest.mark.parametrize("workload", ["a", *longer(*"bcd"), "e", *longer("f")])
def test_each_workload_runs_on_records_of_fields(workload: str, tmp_path: Path) -> None:
    database = f"--db-path {tmp_path}/db --layout ycsb --record-count 500"
    assert openload(f"load {database} --output {tmp_path}/load", PROGRAM).code == 0
    flags = f"--workload {workload} --arrivals constant --rate 500 --duration 1 {JUDGED_GENTLY}"
    done = openload(f"run {database} {flags} --output {tmp_path}/run", PROGRAM)
    assert done.code == 0, done.errors
    invariants_hold(done.final, tmp_path / "run")
    assert done.final["completed"] == 500
    assert sum(operation["not_found"] for operation in done.final["operations"].values()) == 0


def test_a_library_of_another_version_or_none_is_reported_at_the_start(by_db_bench: Path, tmp_path: Path) -> None:
    flags = (
        f"run --db-path {by_db_bench} --record-count 9 --read 1 --arrivals closed --duration 1 --output {tmp_path}/o"
    )
    other = tmp_path / "librocksdb.so.8.1.1"
    shutil.copy("/usr/lib/x86_64-linux-gnu/librocksdb.so.7.8", other)
    done = openload(f"{flags} --library {other}", PROGRAM)
    assert (done.code, done.lines) == (3, [])
    assert f"{other} is not RocksDB 7.8.x: give the library of that version" in done.errors
    done = openload(f"{flags} --library librocksdb.so.0", PROGRAM)
    assert done.code == 3
    assert "librocksdb.so.0 can't be used" in done.errors
    assert "install RocksDB 7.8.x, Debian's librocksdb7.8" in done.errors


def test_a_disk_that_fills_ends_the_run_with_a_clear_code(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can mount a file system that is small")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", tmp_path], check=True)
    try:
        database = f"--db-path {tmp_path}/db --record-count 20000"
        assert openload(f"load {database} --output {tmp_path}/load", PROGRAM).code == 0
        flags = "--update 1 --value-size 2000 --arrivals constant --rate 20000 --duration 30 --give-up 2 --quiet"
        out = tmp_path_factory.mktemp("elsewhere") / "run"  # only the database's disk is full
        done = openload(f"run {database} {flags} --output {out}", PROGRAM)
        assert done.code == 6, done.errors  # Debian's RocksDB has assertions, of which one fails
        assert len(done.errors.splitlines()) < 10
        assert "Is the disk full?" in done.errors
        assert not (out / "record.json").exists()
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def test_a_folder_without_the_records_is_refused(by_db_bench: Path, tmp_path: Path) -> None:
    flags = f"run --record-count 9 --workload c --arrivals closed --duration 1 --output {tmp_path}/o"
    for place, error in (
        (f"--db-path {tmp_path}", "is no RocksDB database: load it first"),
        (f"--db-path {by_db_bench} --layout ycsb", "it has no column family usertable"),
        (f"--db-path {by_db_bench} --key-size 20", "has none of the first 1000 records"),
        ("", "--db-path is missing"),
    ):
        done = openload(f"{flags} {place}", PROGRAM)
        assert done.code == 3
        assert error in done.errors

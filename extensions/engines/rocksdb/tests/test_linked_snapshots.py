"""Tests that snapshots by hard links restore the same bytes (with real db_bench), and that incomplete ones are never
used."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from benchbrief.compiler.registry import TOOL_SPECS
from benchbrief.extensions.engines.rocksdb import rocksdb
from benchbrief.extensions.engines.rocksdb.rocksdb import RocksDB
from benchbrief.model.plan import Dataset
from benchbrief.runners.driver_contexts import CellContext
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.hosts.host_connections import HostPool
from tests.support import cells
from tests.support.tools import system_tool
from tests.support.waiting import until

RECORDS = 10_000


def db_bench(path: Path, *benchmarks: str, **flags: str | int) -> str:
    words = [str(system_tool("db_bench")), f"--db={path}", f"--benchmarks={','.join(benchmarks)}", f"--num={RECORDS}"]
    words += [f"--{name}={value}" for name, value in flags.items()]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return str(done.stdout)


GENTLY = {"benchmark_read_rate_limit": 20_000, "benchmark_write_rate_limit": 4_000_000}
"""Flags for timed runs, which would otherwise use the whole processor."""


def overwritten(path: Path) -> None:
    """Overwrite all keys twice in small files, and compact, so that every table file is replaced."""
    db_bench(path, "overwrite", "compact", use_existing_db=1, num=2 * RECORDS, write_buffer_size=1 << 19)


def hashes(path: Path) -> dict[str, str]:
    """Return the digest of each file of the data set, without the snapshot's files and RocksDB's own logs."""
    return {
        each.name: hashlib.sha256(each.read_bytes()).hexdigest()
        for each in sorted(path.iterdir())
        if each.is_file() and not each.name.startswith("LOG")
    }


def engine_at(path: Path, options_file: str | None = None) -> tuple[RocksDB, CellContext]:
    """Return an engine with `reset = links` and a writing workload."""
    database = cells.rocksdb(path, options_file).model_copy(update={"reset": "links"})
    context = cells.context(cells.db_bench("overwrite", RECORDS), database)
    return RocksDB(context.plan, context.database, context.hardware, HostPool(context.plan)), context


def loaded(path: Path, options_file: str | None = None) -> tuple[RocksDB, CellContext]:
    """Return an engine on a data set that db_bench has just loaded."""
    engine, context = engine_at(path, options_file)
    engine.start()
    engine.reset(context.cell)
    db_bench(path, "fillseq", "flush")
    engine.loaded(context.cell, RECORDS)
    return engine, context


def test_a_database_is_the_same_bytes_after_any_writes(tmp_path: Path) -> None:
    engine, context = loaded(tmp_path / "db")
    before = hashes(tmp_path / "db")
    assert any(name.endswith(".sst") for name in before)
    for _ in range(2):
        engine.begin(context.cell)
        overwritten(tmp_path / "db")
        assert hashes(tmp_path / "db").keys().isdisjoint(name for name in before if name.endswith(".sst"))
        assert engine.holds(context.cell)
        text = engine.restore(context.cell)
        assert text.startswith("before the measurement, the data set was linked back from the snapshot")
        assert hashes(tmp_path / "db") == before
    said = db_bench(tmp_path / "db", "readrandom", use_existing_db=1)
    assert f"({RECORDS} of {RECORDS} found)" in said


DB_BENCH = TOOL_SPECS.usable("db_bench")
assert DB_BENCH
WRITING = [name for name, each in DB_BENCH.workloads.items() if each.existing and each.writes]
"""The benchmarks that write to a data set loaded earlier."""


def test_there_are_workloads_that_write_into_loaded_data() -> None:
    assert {"overwrite", "readwhilewriting"} <= set(WRITING)


@pytest.mark.long
@pytest.mark.parametrize(
    "benchmark", [WRITING[0], *(pytest.param(each, marks=pytest.mark.long) for each in WRITING[1:])]
)
def test_a_database_is_the_same_bytes_after_each_writing_workload(tmp_path: Path, benchmark: str) -> None:
    engine, context = loaded(tmp_path / "db")
    before = hashes(tmp_path / "db")
    engine.begin(context.cell)
    db_bench(tmp_path / "db", benchmark, use_existing_db=1, write_buffer_size=1 << 19, duration=1, threads=2, **GENTLY)
    assert hashes(tmp_path / "db") != before
    assert engine.holds(context.cell)
    engine.restore(context.cell)
    assert hashes(tmp_path / "db") == before


def test_blob_files_are_linked_too(tmp_path: Path) -> None:
    engine, context = loaded(tmp_path / "db")
    engine.reset(context.cell)
    db_bench(tmp_path / "db", "fillseq", "flush", enable_blob_files=1, value_size=200)
    engine.loaded(context.cell, RECORDS)
    blobs = [each for each in (tmp_path / "db").iterdir() if each.suffix == ".blob"]
    assert blobs
    assert {each.stat().st_nlink for each in blobs} == {2}


def test_a_snapshot_takes_no_room_for_its_tables(tmp_path: Path) -> None:
    loaded(tmp_path / "db")
    tables = [each for each in (tmp_path / "db").iterdir() if each.suffix == ".sst"]
    assert {each.stat().st_nlink for each in tables} == {2}
    copied = [each for each in (tmp_path / "db").iterdir() if each.name.startswith(("MANIFEST", "CURRENT"))]
    assert {each.stat().st_nlink for each in copied} == {1}, "RocksDB writes into these"


def killed_at(program: str, script: str, path: Path, tmp_path: Path) -> None:
    """Run a script, and kill it and its child processes when it reaches this program."""
    reached, wrapped = tmp_path / "reached", tmp_path / "bin" / program
    wrapped.parent.mkdir(exist_ok=True)
    wrapped.write_text(f"#!/bin/sh\necho >'{reached}'\nsleep 60\n")
    wrapped.chmod(0o755)
    env = {**os.environ, "PATH": f"{wrapped.parent}:{os.environ['PATH']}"}
    going = subprocess.Popen(["sh", "-c", script, "sh", path], env=env, start_new_session=True)
    until(reached.exists, 20)
    os.killpg(going.pid, signal.SIGKILL)
    going.wait()
    reached.unlink()
    wrapped.unlink()


@pytest.mark.parametrize(
    "program", ["ln", *(pytest.param(each, marks=pytest.mark.long) for each in ("cp", "sync", "mv"))]
)
def test_a_snapshot_that_was_killed_while_it_was_made_is_none(tmp_path: Path, program: str) -> None:
    engine, context = loaded(tmp_path / "db")
    killed_at(program, rocksdb.TAKE, tmp_path / "db", tmp_path)
    assert not engine.holds(context.cell)


@pytest.mark.parametrize(
    "program", ["rm", "mv", *(pytest.param(each, marks=pytest.mark.long) for each in ("ln", "cp", "sync"))]
)
def test_a_restore_that_was_killed_is_made_again_from_the_same_snapshot(tmp_path: Path, program: str) -> None:
    engine, context = loaded(tmp_path / "db")
    before = hashes(tmp_path / "db")
    engine.begin(context.cell)
    overwritten(tmp_path / "db")
    killed_at(program, rocksdb.RESTORE, tmp_path / "db", tmp_path)
    assert engine.holds(context.cell)
    engine.restore(context.cell)
    assert hashes(tmp_path / "db") == before


@pytest.mark.parametrize("harm", ["removed", "written to", "another file", "no CURRENT", "no IDENTITY"])
def test_a_snapshot_whose_files_have_changed_is_not_used_and_reported(tmp_path: Path, harm: str) -> None:
    engine, context = loaded(tmp_path / "db")
    assert engine.doubt(context.cell) == ""
    (table, *_) = (tmp_path / "db/BENCHBRIEF.snapshot").glob("*.sst")
    if harm == "removed":
        table.unlink()
    elif harm.startswith("no "):
        (table.parent / harm.removeprefix("no ")).unlink()
    elif harm == "written to":
        with (tmp_path / "db" / table.name).open("r+b") as through_the_database:
            through_the_database.write(b"x")
    else:
        (table.parent / "000999.sst").write_bytes(b"x")
    assert not engine.holds(context.cell)
    assert "is not whole: its files are not those that were kept after the load" in engine.doubt(context.cell)
    with pytest.raises(RunnerError, match=r"the files of the snapshot in .* have changed"):
        engine.restore(context.cell)


def test_a_snapshot_of_another_data_set_is_none(tmp_path: Path) -> None:
    engine, context = loaded(tmp_path / "db")
    other = context.cell.model_copy(update={"dataset": Dataset(hash="other", records=RECORDS, reuse=True)})
    assert not engine.holds(other)
    assert engine.doubt(other) == ""


def test_a_table_on_another_device_is_refused_with_the_reason(tmp_path: Path) -> None:
    engine, context = loaded(tmp_path / "db")
    (table, *_) = (tmp_path / "db").glob("*.sst")
    elsewhere = tmp_path / "elsewhere.sst"
    table.rename(elsewhere)
    table.symlink_to(elsewhere)
    with pytest.raises(RunnerError, match=rf"{table.name} is no plain file in .*, so a link would not keep it"):
        engine.loaded(context.cell, RECORDS)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Yield a function that makes small file systems. It needs root."""
    if os.getuid() != 0:
        pytest.skip("only root can mount a small file system")
    mounted: list[Path] = []

    def mount(size: str) -> Path:
        path = tmp_path / f"small-{len(mounted)}"
        path.mkdir()
        words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
        mounted.append(path)
        return path

    yield mount
    for path in mounted:
        subprocess.run(["umount", "--lazy", path], check=True)


def test_a_table_that_is_a_mount_of_another_device_is_refused_with_the_reason(
    tmp_path: Path, small: Callable[[str], Path]
) -> None:
    engine, context = loaded(tmp_path / "db")
    (table, *_) = (tmp_path / "db").glob("*.sst")
    elsewhere = small("8m") / table.name
    shutil.copy(table, elsewhere)
    subprocess.run(["mount", "--bind", elsewhere, table], check=True)
    try:
        with pytest.raises(RunnerError, match=r"the file system of .* can't link its files") as refused:
            engine.loaded(context.cell, RECORDS)
    finally:
        subprocess.run(["umount", table], check=True)
    assert "reset = after_writes" in refused.value.hint
    assert not engine.holds(context.cell), "what is half linked is no snapshot"


def test_a_snapshot_on_a_full_disk_is_refused_and_is_none(small: Callable[[str], Path]) -> None:
    disk = small("16m")
    engine, context = engine_at(disk / "db")
    engine.start()
    db_bench(disk / "db", "fillseq", "flush")
    fill(disk, left=16 << 10)
    with pytest.raises(RunnerError, match=r"no snapshot can be taken of .*: cp: .*No space left on device"):
        engine.loaded(context.cell, RECORDS)
    assert not engine.holds(context.cell)


def test_a_restore_on_a_full_disk_fails_and_is_made_again_with_room(small: Callable[[str], Path]) -> None:
    disk = small("24m")
    engine, context = engine_at(disk / "db")
    engine.start()
    db_bench(disk / "db", "fillseq", "flush")
    engine.loaded(context.cell, RECORDS)
    before = hashes(disk / "db")
    for log in (disk / "db").glob("LOG*"):
        log.unlink()
    filler = fill(disk)
    with pytest.raises(RunnerError, match=r"can't be brought back: cp: .*No space left on device$"):
        engine.restore(context.cell)
    assert (disk / "db/BENCHBRIEF").read_text() == "", "it names no data set"
    filler.unlink()
    engine.restore(context.cell)
    assert hashes(disk / "db") == before


def test_a_marker_on_a_full_disk_is_reported_as_what_has_no_room(small: Callable[[str], Path]) -> None:
    disk = small("16m")
    engine, context = engine_at(disk / "db")
    engine.start()
    db_bench(disk / "db", "fillseq", "flush")
    fill(disk)
    with pytest.raises(RunnerError, match=r"the marker can't be written in .*/db, where 0 KiB are free"):
        engine.loaded(context.cell, RECORDS)
    assert not engine.holds(context.cell)


def fill(disk: Path, left: int = 0) -> Path:
    """Use up all room except this many bytes."""
    path = disk / "filler"
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"x" * 4096)
    os.truncate(path, path.stat().st_size - left)
    return path


def test_an_options_file_that_puts_a_part_elsewhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rocks.ini").write_text("[DBOptions]\n  wal_dir = /mnt/log\n")
    with pytest.raises(RunnerError, match=r"`reset = links` keeps .* alone, .* has `.*wal_dir = /mnt/log`"):
        loaded(tmp_path / "db", str(tmp_path / "rocks.ini"))

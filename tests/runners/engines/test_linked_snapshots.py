"""Snapshots by hard links bring back the same bytes, with real db_bench, and are never used when they are not whole."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
from pathlib import Path

import pytest

from benchbrief.compiler.planning.plan import Dataset
from benchbrief.runners.engines.rocksdb import linked_snapshots
from benchbrief.runners.engines.rocksdb.rocksdb import RocksDB
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.execution.driver_contexts import CellContext
from benchbrief.runners.hosts.host_connections import HostPool
from tests.support import cells
from tests.support.tools import system_tool
from tests.support.waiting import until

RECORDS = 20_000


def db_bench(path: Path, *benchmarks: str, **flags: str | int) -> str:
    words = [str(system_tool("db_bench")), f"--db={path}", f"--benchmarks={','.join(benchmarks)}", f"--num={RECORDS}"]
    words += [f"--{name}={value}" for name, value in flags.items()]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return str(done.stdout)


def overwritten(path: Path) -> None:
    """Write over all keys twice, in small files, and compact: every table file is replaced."""
    db_bench(path, "overwrite", "compact", use_existing_db=1, num=2 * RECORDS, write_buffer_size=1 << 19)


def hashes(path: Path) -> dict[str, str]:
    """The digest of each file of the data set: not those of the snapshot, nor RocksDB's own logs."""
    return {
        each.name: hashlib.sha256(each.read_bytes()).hexdigest()
        for each in sorted(path.iterdir())
        if each.is_file() and not each.name.startswith("LOG")
    }


def loaded(path: Path, options_file: str | None = None) -> tuple[RocksDB, CellContext]:
    """An engine with `reset = links` on a data set that db_bench has just loaded; the workload writes."""
    database = cells.rocksdb(path, options_file).model_copy(update={"reset": "links"})
    context = cells.context(cells.db_bench("overwrite", RECORDS), database)
    engine = RocksDB(context.plan, context.database, context.hardware, HostPool(context.plan))
    engine.start()
    engine.reset(context.cell)
    db_bench(path, "fillseq", "flush", "waitforcompaction")
    engine.loaded(context.cell, RECORDS)
    return engine, context


def test_a_database_is_the_same_bytes_after_any_writes(tmp_path: Path) -> None:
    engine, context = loaded(tmp_path / "db")
    before = hashes(tmp_path / "db")
    assert any(name.endswith(".sst") for name in before)
    for _ in range(2):
        engine.settle(context.cell)
        overwritten(tmp_path / "db")
        assert hashes(tmp_path / "db").keys().isdisjoint(name for name in before if name.endswith(".sst"))
        assert engine.holds(context.cell)
        told = engine.restore(context.cell)
        assert told.startswith("the data set was linked back from the snapshot")
        assert hashes(tmp_path / "db") == before
    said = db_bench(tmp_path / "db", "readrandom", use_existing_db=1)
    assert f"({RECORDS} of {RECORDS} found)" in said


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
    """Run a script, and kill it with all that it started when it has come to this program."""
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


@pytest.mark.parametrize("program", ["ln", "cp", "sync", "mv"])
def test_a_snapshot_that_was_killed_while_it_was_made_is_none(tmp_path: Path, program: str) -> None:
    engine, context = loaded(tmp_path / "db")
    killed_at(program, linked_snapshots.TAKE, tmp_path / "db", tmp_path)
    assert not engine.holds(context.cell)


@pytest.mark.parametrize("program", ["rm", "ln", "cp", "sync", "mv"])
def test_a_restore_that_was_killed_is_made_again_from_the_same_snapshot(tmp_path: Path, program: str) -> None:
    engine, context = loaded(tmp_path / "db")
    before = hashes(tmp_path / "db")
    engine.settle(context.cell)
    overwritten(tmp_path / "db")
    killed_at(program, linked_snapshots.RESTORE, tmp_path / "db", tmp_path)
    assert engine.holds(context.cell)
    engine.restore(context.cell)
    assert hashes(tmp_path / "db") == before


@pytest.mark.parametrize("harm", ["removed", "written to", "another file"])
def test_a_snapshot_whose_files_have_changed_is_not_used_and_told(tmp_path: Path, harm: str) -> None:
    engine, context = loaded(tmp_path / "db")
    assert engine.doubt(context.cell) == ""
    (table, *_) = (tmp_path / "db/BENCHBRIEF.snapshot").glob("*.sst")
    if harm == "removed":
        table.unlink()
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


def test_an_options_file_that_puts_a_part_elsewhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rocks.ini").write_text("[DBOptions]\n  wal_dir = /mnt/log\n")
    with pytest.raises(RunnerError, match=r"`reset = links` keeps .* alone, .* has `.*wal_dir = /mnt/log`"):
        loaded(tmp_path / "db", str(tmp_path / "rocks.ini"))

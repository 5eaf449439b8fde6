"""Tests that snapshots by btrfs restore the same bytes, with real db_bench on a real btrfs, and are either complete or
absent."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbrief.extensions.engines.rocksdb.rocksdb import RocksDB
from benchbrief.extensions.engines.rocksdb.tests.test_linked_snapshots import (
    RECORDS,
    db_bench,
    hashes,
    killed_at,
    overwritten,
)
from benchbrief.runners.driver_contexts import CellContext
from benchbrief.runners.engines.file_system_snapshots import FileSystemSnapshots
from benchbrief.runners.errors import PlanRefused, RunnerError
from benchbrief.runners.hosts.host_connections import HostPool
from tests.support import cells
from tests.support.bench import Bench, fresh_bench, records_of
from tests.support.longer import longer
from tests.support.tools import system_tool
from tests.support.waiting import until

SPEC = """\
hardware here { hosts = local }
database rocks { engine = rocksdb  path = "@DB@"  reset = btrfs  options { compression = "none" } }
workload ow from db_bench.overwrite { records = 5k }
experiment e { hardware = here  workloads = [ow]  threads = [1, 2]  measure = 1 s  repeats = 2 }
"""


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield a btrfs of 1 GiB in a sparse file."""
    if os.getuid() != 0:
        pytest.skip("only root can mount a btrfs")
    if "btrfs" not in Path("/proc/filesystems").read_text(encoding="utf-8").split():
        pytest.skip("this kernel has no btrfs")
    if not shutil.which("mkfs.btrfs"):
        pytest.skip("mkfs.btrfs is missing (package btrfs-progs)")
    image = tmp_path_factory.mktemp("btrfs") / "image"
    path = Path(tempfile.mkdtemp(prefix="btrfs-", dir="/tmp"))  # where other users get
    path.chmod(0o755)
    with image.open("wb") as file:
        file.truncate(1 << 30)
    subprocess.run(["mkfs.btrfs", "-q", image], check=True, capture_output=True)
    done = subprocess.run(["mount", "-o", "loop", image, path], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"no file can be mounted here: {done.stderr.strip()}")
    yield path
    subprocess.run(["umount", "--lazy", path], check=True)
    path.rmdir()


@pytest.fixture
def place(system: Path, request: pytest.FixtureRequest) -> Path:
    """Return a folder for this test on btrfs."""
    path = system / re.sub(r"\W+", "_", request.node.name)
    path.mkdir()
    return path


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    system_tool("db_bench")
    with fresh_bench(tmp_path) as fresh:
        yield fresh


def engine_at(path: Path) -> tuple[RocksDB, CellContext]:
    database = cells.rocksdb(path).model_copy(update={"reset": "btrfs"})
    context = cells.context(cells.db_bench("overwrite", RECORDS), database)
    return RocksDB(context.plan, context.database, context.hardware, HostPool(context.plan)), context


def loaded(path: Path) -> tuple[RocksDB, CellContext]:
    """Return an engine on a data set that db_bench has just loaded."""
    engine, context = engine_at(path)
    engine.start()
    engine.reset(context.cell)
    db_bench(path, "fillseq", "flush")
    engine.loaded(context.cell, RECORDS)
    return engine, context


def names(place: Path) -> list[str]:
    return sorted(each.name for each in place.iterdir())


@pytest.mark.long
def test_a_database_is_the_same_bytes_after_any_writes(place: Path) -> None:
    engine, context = loaded(place / "db")
    before = hashes(place / "db")
    for _ in range(2):
        engine.begin(context.cell)
        overwritten(place / "db")
        assert hashes(place / "db") != before
        assert engine.holds(context.cell)
        assert engine.restore(context.cell).startswith(
            "before the measurement, the btrfs snapshot taken after the load"
        )
        assert hashes(place / "db") == before
        assert names(place) == ["db", "db.BENCHBRIEF.snapshot"]
    said = db_bench(place / "db", "readrandom", use_existing_db=1)
    assert f"({RECORDS} of {RECORDS} found)" in said


def test_a_restored_database_is_new_to_the_page_cache(place: Path) -> None:
    engine, context = loaded(place / "db")
    (table, *_) = (place / "db").glob("*.sst")
    table.read_bytes()
    assert cached(table) > 0
    engine.restore(context.cell)
    assert table.stat().st_size > 0
    assert cached(table) == 0


def cached(path: Path) -> int:
    done = subprocess.run(["fincore", "-bno", "RES", path], check=True, capture_output=True, text=True)
    return int(done.stdout)


def test_a_snapshot_takes_no_room_and_can_t_be_written_to(place: Path) -> None:
    loaded(place / "db")
    kept = place / "db.BENCHBRIEF.snapshot"
    (table, *_) = kept.glob("*.sst")
    with pytest.raises(OSError, match="Read-only"):
        table.open("r+b")
    said = subprocess.run(
        ["btrfs", "filesystem", "du", "--raw", "-s", kept], capture_output=True, text=True, check=True
    )
    total, exclusive = map(int, said.stdout.splitlines()[1].split()[:2])
    assert total > 500_000 > 10 * exclusive


@pytest.mark.parametrize("program", [pytest.param("sync", marks=pytest.mark.long), "btrfs"])
def test_a_snapshot_that_was_killed_before_it_was_made_is_none(place: Path, tmp_path: Path, program: str) -> None:
    engine, context = loaded(place / "db")
    engine.reset(context.cell)
    db_bench(place / "db", "fillseq", "flush")
    killed_at(program, FileSystemSnapshots("btrfs").step("take"), place / "db", tmp_path)
    assert not engine.holds(context.cell)
    engine.loaded(context.cell, RECORDS)
    assert engine.holds(context.cell)


@pytest.mark.parametrize("program", ["btrfs", *longer("mv", "sync")])
def test_a_restore_that_was_killed_is_made_again_from_the_same_snapshot(
    place: Path, tmp_path: Path, program: str
) -> None:
    engine, context = loaded(place / "db")
    before = hashes(place / "db")
    engine.begin(context.cell)
    overwritten(place / "db")
    killed_at(program, FileSystemSnapshots("btrfs").step("restore"), place / "db", tmp_path)
    after, context = engine_at(place / "db")
    after.start()
    assert after.holds(context.cell)
    after.restore(context.cell)
    assert hashes(place / "db") == before
    assert names(place) == ["db", "db.BENCHBRIEF.snapshot"]


def test_a_restore_that_was_killed_between_its_renames_is_made_again(place: Path) -> None:
    engine, context = loaded(place / "db")
    before = hashes(place / "db")
    subprocess.run(["btrfs", "subvolume", "snapshot", place / "db", place / "db.BENCHBRIEF.new"], check=True)
    (place / "db").rename(place / "db.BENCHBRIEF.old")
    after, context = engine_at(place / "db")
    after.start()
    assert names(place) == ["db", "db.BENCHBRIEF.snapshot"]
    after.restore(context.cell)
    assert hashes(place / "db") == before
    assert engine.holds(context.cell)


def test_a_snapshot_that_was_made_writable_and_changed_is_not_used_and_reported(place: Path) -> None:
    engine, context = loaded(place / "db")
    kept = place / "db.BENCHBRIEF.snapshot"
    subprocess.run(["btrfs", "property", "set", kept, "ro", "false"], check=True)
    (table, *_) = kept.glob("*.sst")
    table.unlink()
    assert not engine.holds(context.cell)
    assert "is not whole: its files are not those that were kept after the load" in engine.doubt(context.cell)
    with pytest.raises(RunnerError, match=r"the files of the snapshot of .* have changed"):
        engine.restore(context.cell)
    engine.reset(context.cell)
    assert names(place) == ["db"]


def test_a_table_elsewhere_is_refused_with_the_reason(place: Path) -> None:
    engine, context = loaded(place / "db")
    (place / "db" / "away.sst").symlink_to("/etc/hostname")
    with pytest.raises(RunnerError, match=r"away.sst in .* leads out of it, so a snapshot would not keep it"):
        engine.loaded(context.cell, RECORDS)


def test_a_directory_that_is_no_subvolume_is_refused(place: Path) -> None:
    (place / "db").mkdir()
    engine, _ = engine_at(place / "db")
    for refused in (engine.check_place, engine.start):
        with pytest.raises(PlanRefused, match=r"`reset = btrfs` of database rocks .*/db is no btrfs subvolume"):
            refused()


def test_another_s_subvolume_is_refused(place: Path) -> None:
    subprocess.run(["btrfs", "subvolume", "create", place / "db"], check=True)
    (place / "db" / "theirs").touch()
    with pytest.raises(RunnerError, match=r"is not empty \(theirs\), and was not made by benchbrief"):
        engine_at(place / "db")[0].start()
    (place / "other.BENCHBRIEF.snapshot").mkdir()
    engine, context = engine_at(place / "other")
    engine.start()
    with pytest.raises(RunnerError, match=r"other.BENCHBRIEF.snapshot is in the way, and was not made by benchbrief"):
        engine.reset(context.cell)


def test_another_file_system_is_refused(tmp_path: Path, system: Path) -> None:
    with pytest.raises(PlanRefused, match=r"is on .*, and not on btrfs"):
        engine_at(tmp_path / "db")[0].check_place()
    with pytest.raises(PlanRefused, match=r"is where a file system is mounted, which can't be replaced"):
        engine_at(system)[0].check_place()
    assert not (tmp_path / "db").exists()


def test_a_user_who_may_not_remove_subvolumes_is_refused(place: Path) -> None:
    place.chmod(0o777)
    check = FileSystemSnapshots("btrfs").step("check")
    done = subprocess.run(
        ["setpriv", "--reuid=65534", "--clear-groups", "sh", "-c", check, "sh", place / "db"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "may not remove subvolumes: log in as root, or `sudo mount -o remount," in done.stdout


def test_a_run_loads_once_and_puts_the_snapshot_back_before_each_cell(bench: Bench, place: Path) -> None:
    bench.spec(SPEC.replace("@DB@", str(place / "db")))
    ended = bench("run", "brief.bench")
    assert ended.code == 0, ended.text
    texts = [record["text"] for record in bench.journal("remark")]
    assert sum("the btrfs snapshot taken after the load was put back" in text for text in texts) == 3
    assert names(place) == ["db", "db.BENCHBRIEF.snapshot"]


def test_a_run_is_refused_before_the_first_cell(bench: Bench, tmp_path: Path) -> None:
    bench.spec(SPEC.replace("@DB@", str(tmp_path / "db")))
    ended = bench("run", "brief.bench")
    assert ended.code not in (0, 3), ended.text
    assert "and not on btrfs" in ended.err
    assert "reset = links" in ended.err
    begun = [record for run in bench.run_dirs() for record in records_of(run) if record["type"] == "cell_started"]
    assert begun == []
    assert not (tmp_path / "db").exists()


@pytest.mark.long
def test_a_run_that_was_killed_goes_on_with_the_same_snapshot(bench: Bench, place: Path) -> None:
    bench.spec(SPEC.replace("@DB@", str(place / "db")).replace("measure = 1 s", "measure = 5 s"))
    with bench.started("run", "brief.bench", "--no-report") as going:
        until(lambda: any(bench.folder.glob("bench-out/*/journal.jsonl")) and bool(bench.journal("cell_ended")), 120)
        going.signal(signal.SIGKILL)
        going.wait(60)
    done = bench("resume", bench.run_dir.name, "--no-report", timeout=240)
    assert done.code == 0, done.text
    loads = [each for each in bench.journal("job_collected") if each["step"] == "load" and each["job"] == "load"]
    assert len(loads) == 1
    assert names(place) == ["db", "db.BENCHBRIEF.snapshot"]

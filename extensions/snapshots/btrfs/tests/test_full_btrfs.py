"""Tests `reset = btrfs` on a real btrfs that is full."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbrief.extensions.engines.rocksdb.tests.test_linked_snapshots import RECORDS, db_bench, hashes, overwritten
from benchbrief.extensions.snapshots.btrfs.tests.test_btrfs import engine_at, loaded, names
from benchbrief.runners.errors import RunnerError
from tests.support.tools import system_tool

SIZE = 160 << 20
"""A size slightly above the minimum of btrfs (109 MiB), so that the file system fills up quickly."""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a small btrfs."""
    if os.getuid() != 0 or "btrfs" not in Path("/proc/filesystems").read_text(encoding="utf-8").split():
        pytest.skip("only root can mount a btrfs, of a kernel that has it")
    if not shutil.which("mkfs.btrfs"):
        pytest.skip("mkfs.btrfs is missing (package btrfs-progs)")
    system_tool("db_bench")
    image, path = tmp_path / "image", Path(tempfile.mkdtemp(prefix="full-btrfs-"))
    with image.open("wb") as file:
        file.truncate(SIZE)
    subprocess.run(["mkfs.btrfs", "-q", image], check=True, capture_output=True)
    done = subprocess.run(["mount", "-o", "loop", image, path], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        path.rmdir()
        pytest.skip(f"no file can be mounted here: {done.stderr.strip()}")
    try:
        yield path
    finally:
        subprocess.run(["umount", "--lazy", path], check=True)
        path.rmdir()


def fill(place: Path) -> Path:
    """Fill the file system until neither a large nor a small file can be written."""
    rest = place / "rest"
    rest.mkdir()
    for size in (1 << 20, 1 << 16, 1 << 12, 1 << 10):
        while _written(rest / str(len(list(rest.iterdir()))), size):
            pass
    return rest


def _written(path: Path, size: int) -> bool:
    """Return whether a file of this size could be written."""
    try:
        with path.open("wb", buffering=0) as file:
            whole = file.write(os.urandom(size)) == size
            os.fsync(file.fileno())
            return whole
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        return False


def test_data_are_brought_back_on_a_full_disk_and_the_room_of_what_replaced_them_is_free(place: Path) -> None:
    engine, context = loaded(place / "db")
    before = hashes(place / "db")
    engine.begin(context.cell)
    overwritten(place / "db")
    fill(place)
    engine.restore(context.cell)
    assert hashes(place / "db") == before
    assert names(place) == ["db", "db.BENCHBRIEF.snapshot", "rest"]
    assert engine.holds(context.cell)


@pytest.mark.long
def test_a_snapshot_that_finds_no_room_is_none_and_is_taken_when_there_is_some(place: Path) -> None:
    engine, context = engine_at(place / "db")
    engine.start()
    engine.reset(context.cell)
    db_bench(place / "db", "fillseq", "flush")
    rest = fill(place)
    with pytest.raises(RunnerError, match=r"the marker can't be written in .*/db, where 0 KiB are free"):
        engine.loaded(context.cell, RECORDS)
    assert not engine.holds(context.cell)
    shutil.rmtree(rest)
    engine.loaded(context.cell, RECORDS)
    assert engine.holds(context.cell)
    assert names(place) == ["db", "db.BENCHBRIEF.snapshot"]

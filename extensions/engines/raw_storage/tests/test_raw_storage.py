"""Tests raw storage: a file is laid out only in one of our directories, and a device's data are destroyed only if this
is certainly allowed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchbrief.extensions.engines.raw_storage.raw_storage import RawStorage
from benchbrief.extensions.tools.fio.tests.test_fio import fio_workload
from benchbrief.model.engine_spec import Reset
from benchbrief.model.plan import Database
from benchbrief.runners.driver_contexts import CellContext, Endpoint
from benchbrief.runners.errors import LoadShort, RunnerError, ServerFailed
from benchbrief.runners.hosts.host_connections import HostPool
from tests.support import cells
from tests.support.tools import system_tool

MIB = 1 << 20
SIZE = 4 * MIB


def opened(
    path: Path | str,
    *,
    destroys: str = "",
    size: float = SIZE,
    reset: Reset = "after_writes",
    pattern: str = "randread",
) -> tuple[RawStorage, CellContext]:
    database = Database(
        name="disk",
        label="Disk",
        engine="raw_storage",
        server="none",
        path=str(path),
        size_bytes=size,
        settings={"destroys": destroys} if destroys else {},
        reset=reset,
        origin=cells.ORIGIN,
    )
    context = cells.context(fio_workload(pattern), database)
    return RawStorage(context.plan, database, context.hardware, HostPool(context.plan)), context


def lay_out(folder: Path, size: int = SIZE) -> None:
    (folder / "data").write_bytes(b"x" * size)


# --- a file ------------------------------------------------------------------------------------------------------


def test_a_file_is_known_by_its_data_set_and_size_and_by_the_cells_that_wrote(tmp_path: Path) -> None:
    engine, context = opened(tmp_path / "raw", pattern="randwrite")
    cell = context.cell
    assert engine.start() == Endpoint(path=str(tmp_path / "raw/data"))
    assert not engine.holds(cell)
    engine.reset(cell)
    lay_out(tmp_path / "raw")
    engine.loaded(cell, SIZE)
    assert engine.holds(cell)
    assert engine.begin(cell) == ()
    assert not engine.holds(cell), "this cell writes"
    again, other = opened(tmp_path / "raw", reset="reuse")
    again.start()
    assert again.holds(other.cell)
    (remark,) = again.begin(other.cell)
    assert "by 1 earlier cell" in remark
    lay_out(tmp_path / "raw", SIZE - 1)
    assert not again.holds(other.cell)
    (tmp_path / "raw/data").unlink()
    assert not again.holds(other.cell)
    with pytest.raises(ServerFailed, match="is gone"):
        again.healthy()


def test_a_short_layout_is_refused(tmp_path: Path) -> None:
    engine, context = opened(tmp_path / "raw")
    engine.start()
    lay_out(tmp_path / "raw", SIZE - MIB)
    for records in (SIZE - MIB, SIZE):
        with pytest.raises(LoadShort, match="bytes after the layout"):
            engine.loaded(context.cell, records)


def test_a_directory_of_others_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("precious")
    engine, context = opened(tmp_path)
    with pytest.raises(RunnerError, match="was not made by benchbrief"):
        engine.start()
    with pytest.raises(RunnerError, match="refusing to empty"):
        engine.reset(context.cell)
    assert (tmp_path / "data").read_text() == "precious"


def test_a_layout_without_room_is_refused_before_it_begins(tmp_path: Path) -> None:
    engine, context = opened(tmp_path / "raw", size=2.0**60)
    engine.start()
    with pytest.raises(RunnerError, match="the layout needs"):
        engine.reset(context.cell)


def test_a_snapshot_brings_the_layout_back(tmp_path: Path) -> None:
    engine, context = opened(tmp_path / "raw", reset="snapshot", pattern="randwrite")
    engine.start()
    lay_out(tmp_path / "raw")
    engine.loaded(context.cell, SIZE)
    engine.begin(context.cell)
    (tmp_path / "raw/data").write_bytes(b"y" * SIZE)
    assert engine.holds(context.cell)
    engine.restore(context.cell)
    assert (tmp_path / "raw/data").read_bytes() == b"x" * SIZE


# --- a device ----------------------------------------------------------------------------------------------------


@pytest.fixture
def device(tmp_path: Path) -> Iterator[str]:
    """Yield a loop device of 8 MiB without any contents."""
    losetup = system_tool("losetup")
    (tmp_path / "disk.img").write_bytes(b"\0" * 8 * MIB)
    made = subprocess.run(
        [losetup, "--find", "--show", tmp_path / "disk.img"], capture_output=True, text=True, check=False
    )
    if made.returncode != 0:
        pytest.skip(f"no loop device can be made here: {made.stderr.strip()}")
    name = made.stdout.strip()
    try:
        yield name
    finally:
        subprocess.run([losetup, "--detach", name], check=True)


def refusal(path: str, **more: str | float) -> str:
    engine, context = opened(path, **{"destroys": path, **more})  # type: ignore[arg-type]  # by name
    for step in (engine.start, lambda: engine.reset(context.cell), lambda: engine.begin(context.cell)):
        with pytest.raises(RunnerError) as refused:
            step()
    with pytest.raises(RunnerError):
        engine.check_place()
    return refused.value.message


def test_a_device_without_anything_on_it_may_be_destroyed(device: str) -> None:
    engine, context = opened(device, destroys=device)
    assert "a block device of 8.0 MiB" in engine.check_place()
    assert engine.start() == Endpoint(path=device)
    engine.reset(context.cell)
    engine.loaded(context.cell, SIZE)
    assert engine.holds(context.cell)
    assert not opened(device, destroys=device)[0].holds(context.cell), "a device does not say what it holds"


def test_a_device_is_refused_where_the_spec_does_not_say_destroys(device: str) -> None:
    engine, _ = opened(device)
    with pytest.raises(RunnerError, match="is a block device, and the run would destroy its data") as refused:
        engine.start()
    assert f'destroys = "{device}"' in refused.value.hint
    other, _ = opened("/data", destroys=device)
    with pytest.raises(RunnerError, match=f"may destroy {device}, and its path is /data"):
        other.start()


@pytest.mark.parametrize("make", ["mkfs.ext4", "mkswap", "pvcreate", "sfdisk"])
def test_a_device_with_a_signature_is_refused_and_left_as_it_is(device: str, tmp_path: Path, make: str) -> None:
    program = shutil.which(make, path="/usr/sbin:/sbin:/usr/bin:/bin")
    if program is None:
        pytest.skip(f"{make} is not installed")
    subprocess.run([program, device], input=",\n", text=True, capture_output=True, check=True)
    subprocess.run(["sync"], check=True)
    before = (tmp_path / "disk.img").read_bytes()
    said = refusal(device)
    assert "has data: " in said or "has partitions" in said
    assert (tmp_path / "disk.img").read_bytes() == before


def test_a_mounted_device_is_refused(device: str, tmp_path: Path) -> None:
    mkfs = system_tool("mkfs.ext4")
    subprocess.run([mkfs, "-q", device], check=True)
    (tmp_path / "mount").mkdir()
    done = subprocess.run(["mount", device, tmp_path / "mount"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    try:
        assert refusal(device).endswith(f"{device} is mounted on {tmp_path / 'mount'}")
    finally:
        subprocess.run(["umount", tmp_path / "mount"], check=True)


def test_a_device_that_is_too_small_is_refused(device: str) -> None:
    assert f"has {8 * MIB} bytes" in refusal(device, size=9 * MIB)


def test_a_read_only_device_is_refused(device: str) -> None:
    blockdev = system_tool("blockdev")
    subprocess.run([blockdev, "--setro", device], check=True)
    try:
        assert refusal(device).endswith(f"{device} is read-only")
    finally:
        subprocess.run([blockdev, "--setrw", device], check=True)


def test_a_device_can_have_no_snapshot(device: str) -> None:
    assert "can't be copied back from a snapshot" in refusal(device, reset="snapshot")


@pytest.mark.parametrize(("path", "why"), [("/dev/null", "not a block device"), ("/dev/none", "does not exist")])
def test_what_is_no_block_device_is_refused(path: str, why: str) -> None:
    assert refusal(path).endswith(why)


def test_a_file_is_no_device(tmp_path: Path) -> None:
    (tmp_path / "disk.img").write_bytes(b"\0" * 8 * MIB)
    assert refusal(str(tmp_path / "disk.img")).endswith("is not a block device")

"""Tests the probe of the disks, run for real on this machine and with output from other machines."""

from __future__ import annotations

import os
import re
import subprocess
import time
from itertools import pairwise
from pathlib import Path

import pytest

from benchbrief.extensions.probes.disk.disk_probe import Disk
from benchbrief.model.measurement import Sample
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.seams import Transport
from tests.support.probe_readings import NODE, diskstats, output, printed, probe, sampled, ticking, values
from tests.support.waiting import until


def root_disk() -> str:
    source = subprocess.check_output(["findmnt", "-n", "-o", "SOURCE", "-T", "/var/tmp"], text=True).strip()
    if not source.startswith("/dev/"):
        pytest.skip("/var/tmp is on no block device here")
    return source


def test_the_disk_probe_counts_what_is_written(here: Transport, tmp_path: Path) -> None:
    device = root_disk()
    scratch = Path("/var/tmp") / f"benchbrief-test-{os.getpid()}"
    what = probe("disk", 0.2, device=str(scratch))
    running = here.start(Disk().job(what, NODE))
    until(lambda: running.tail().count("\n.") >= 2)
    started = time.time()
    size = 8 << 20
    try:
        with scratch.open("wb") as file:
            file.write(os.urandom(size))
            file.flush()
            os.fsync(file.fileno())
        ended = time.time() + 0.5
        until(lambda: float(re.findall(r"^= (\S+) ", running.tail(10_000), re.MULTILINE)[-1]) >= ended)
        running.stop()
        # The window begins before the writing, so that the first interval is in it.
        samples = Disk().parse(what, running.collect(tmp_path / "kept"), (started - 0.4, ended))
    finally:
        scratch.unlink()
    times = sorted({sample.time for sample in samples})
    lengths = [0.2, *(b - a for a, b in pairwise(times))]
    written = sum(rate * length for rate, length in zip(values(samples, "disk.write"), lengths, strict=True))
    assert {s.device for s in samples if s.measure != "disk.pressure"} == {Path(device).resolve().name}
    assert written > 0.8 * size
    assert sum(values(samples, "disk.writes")) > 0
    assert all(0 <= share <= 1 for share in values(samples, "disk.utilisation"))


def test_without_a_device_whole_disks_are_sampled_and_nothing_twice(here: Transport, tmp_path: Path) -> None:
    samples = sampled(Disk(), probe("disk", 0.1), here, 0.4, tmp_path / "kept")
    names = {sample.device for sample in samples if sample.measure != "disk.pressure"}
    disks = subprocess.check_output(["lsblk", "-dnr", "-o", "NAME,TYPE"], text=True).splitlines()
    assert names <= {line.split()[0] for line in disks if line.endswith(" disk")}
    assert not {name for name in names if name.startswith(("loop", "ram", "zram", "dm-", "md"))}
    assert names


def test_a_device_that_is_missing_is_said(here: Transport, tmp_path: Path) -> None:
    what = probe("disk", 0.1, device="/dev/no-such-disk")
    running = here.start(Disk().job(what, NODE))
    until(lambda: running.tail().count("\n.") >= 1)
    running.stop()
    with pytest.raises(BadOutput, match="the disk probe can't read on local: no device /dev/no-such-disk"):
        Disk().parse(what, running.collect(tmp_path / "kept"), (0, 1))


def test_a_file_system_in_memory_has_no_disk_and_that_is_not_zero(here: Transport, tmp_path: Path) -> None:
    assert sampled(Disk(), probe("disk", 0.1, device="/dev/shm/not yet"), here, 0.3, tmp_path / "kept") == ()


def test_disk_counters_become_rates_over_the_time_between_readings(tmp_path: Path) -> None:
    text = printed(
        "disks nvme0n1",
        (99.0, diskstats("nvme0n1", reads=100, sectors=1000, writes=50, written=400, busy=10, read_ms=7, queued=100)),
        (
            101.0,
            diskstats(
                "nvme0n1",
                reads=300,
                sectors=5000,
                writes=60,
                written=600,
                busy=510,
                read_ms=607,
                write_ms=200,
                queued=900,
            ),
        ),
    )
    samples = Disk().parse(probe("disk"), output(tmp_path, text), (99.0, 101.5))
    assert samples == (
        Sample("disk.read", "node1", "nvme0n1", 2.0, 4000 * 512 / 2, "B/s", 2.0),
        Sample("disk.write", "node1", "nvme0n1", 2.0, 200 * 512 / 2, "B/s", 2.0),
        Sample("disk.reads", "node1", "nvme0n1", 2.0, 100.0, "1/s", 2.0),
        Sample("disk.writes", "node1", "nvme0n1", 2.0, 5.0, "1/s", 2.0),
        Sample("disk.utilisation", "node1", "nvme0n1", 2.0, 0.25, "", 2.0),
        Sample("disk.queue", "node1", "nvme0n1", 2.0, 0.4, "", 2.0),
        Sample("disk.read_await", "node1", "nvme0n1", 2.0, 0.003, "s", 2.0),
        Sample("disk.write_await", "node1", "nvme0n1", 2.0, 0.02, "s", 2.0),
    )


def test_a_counter_that_goes_backwards_leaves_a_gap(tmp_path: Path) -> None:
    readings = [(float(t), diskstats("a", reads=n)) for t, n in enumerate((10, 20, 3, 13), start=100)]
    samples = Disk().parse(probe("disk"), output(tmp_path, printed("disks a", *readings)), (100, 103))
    assert [(s.time, s.value) for s in samples if s.measure == "disk.reads"] == [(1.0, 10.0), (3.0, 10.0)]


def test_a_busy_time_that_was_rounded_up_is_no_more_than_all_of_the_time(tmp_path: Path) -> None:
    readings = [(100.0, diskstats("a")), (101.0, diskstats("a", busy=1004))]
    samples = Disk().parse(probe("disk"), output(tmp_path, printed("disks a", *readings)), (100, 101))
    assert values(samples, "disk.utilisation") == [1.0]


def test_other_devices_in_the_table_are_left_alone(tmp_path: Path) -> None:
    readings = [(float(t), f"{diskstats('a', reads=t)}\n{diskstats('a1', reads=t)}") for t in (100, 101)]
    samples = Disk().parse(probe("disk"), output(tmp_path, printed("disks a", *readings)), (100, 101))
    assert {sample.device for sample in samples} == {"a"}


def test_a_disk_that_the_kernel_does_not_count_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadOutput, match="does not have b"):
        Disk().parse(probe("disk"), output(tmp_path, ticking(99, 101).replace("disks a", "disks a b")), (99, 101))

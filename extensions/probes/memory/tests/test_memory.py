"""Tests the probe of the memory, run for real on this machine and with output from other machines."""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from pathlib import Path

import pytest

from benchbrief.extensions.probes.memory.memory_probe import Memory
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.seams import Transport
from tests.support.probe_readings import NODE, output, printed, probe, values
from tests.support.waiting import until


def test_the_memory_probe_sees_what_this_process_takes(here: Transport, tmp_path: Path) -> None:
    what = probe("memory", 0.2)
    running = here.start(Memory().job(what, NODE))
    until(lambda: running.tail(10_000).count("\n.") >= 3)

    def sampled_after(at: float) -> None:
        until(lambda: float(re.findall(r"^= (\S+) ", running.tail(10_000), re.MULTILINE)[-1]) >= at)

    def available() -> int:
        return next(
            int(line.split()[1]) << 10 for line in Path("/proc/meminfo").read_text().splitlines() if "Avail" in line
        )

    windows = []
    for _ in range(3):  # others on this machine may free as much at the same time, but not each time
        begun = time.time()
        sampled_after(begun)
        free = available()
        held = bytearray(os.urandom(1 << 20)) * 300
        with suppress(AssertionError):  # the kernel may count it late
            until(lambda: free - available() > 150 << 20, 5)  # noqa: B023 - called in this turn only
        sampled_after(time.time())  # one that was taken before all was held tells nothing
        windows.append((begun, time.time()))
        assert len(held) == 300 << 20
        del held
    running.stop()
    output = running.collect(tmp_path / "kept")
    total = next(int(line.split()[1]) << 10 for line in Path("/proc/meminfo").read_text().splitlines())
    by_window = [Memory().parse(what, output, window) for window in windows]
    rises = [max(used) - used[0] for samples in by_window if (used := values(samples, "memory.used"))]
    assert max(rises) > 100 << 20
    samples = Memory().parse(what, output, (windows[0][0], windows[-1][1]))
    used = values(samples, "memory.used")
    for one, other in zip(used, values(samples, "memory.available"), strict=True):
        assert one + other == total
    for measure in ("memory.cached", "memory.dirty", "memory.swap_used", "memory.swap_in", "memory.swap_out"):
        assert values(samples, measure)
        assert min(values(samples, measure)) >= 0
    if Path("/proc/pressure/memory").exists():
        assert all(0 <= value <= 1 for value in values(samples, "memory.pressure"))


def test_pages_swapped_become_bytes_and_faults_become_rates(tmp_path: Path) -> None:
    def vmstat(swapped: int, faults: int, waited: int) -> str:
        meminfo = "MemTotal: 1000 kB\nMemAvailable: 400 kB\nBuffers: 10 kB\nCached: 200 kB"
        return f"{meminfo}\npswpin {swapped}\npswpout 7\npgmajfault {faults}\nmemory-pressure total={waited}"

    text = printed("page 4096", (100.0, vmstat(10, 5, 0)), (102.0, vmstat(30, 25, 500_000)))
    samples = Memory().parse(probe("memory"), output(tmp_path, text), (100, 102))
    last = {sample.measure: (sample.value, sample.unit) for sample in samples if sample.time == 2.0}
    assert last == {
        "memory.used": (600 * 1024, "B"),
        "memory.available": (400 * 1024, "B"),
        "memory.cached": (210 * 1024, "B"),
        "memory.swap_in": (20 * 4096 / 2, "B/s"),
        "memory.swap_out": (0.0, "B/s"),
        "memory.major_faults": (10.0, "1/s"),
        "memory.pressure": (0.25, ""),
    }


def test_a_host_without_available_memory_in_its_table_is_an_error(tmp_path: Path) -> None:
    text = printed("page 4096", (100.0, "MemFree: 5 kB"), (101.0, "MemFree: 5 kB"))
    with pytest.raises(BadOutput, match="how much memory is available"):
        Memory().parse(probe("memory"), output(tmp_path, text), (100, 101))

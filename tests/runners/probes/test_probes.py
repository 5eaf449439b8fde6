"""Tests the probes of the kernel's files, run for real on this machine and with output from other machines."""

from __future__ import annotations

import math
import os
import re
import resource
import socket
import subprocess
import threading
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

from benchbrief.compiler.registry import PROBE_SPECS
from benchbrief.extensions.probes.cpu.cpu_probe import Cpu
from benchbrief.extensions.probes.disk.disk_probe import Disk
from benchbrief.extensions.probes.memory.memory_probe import Memory
from benchbrief.extensions.probes.network.network_probe import Network
from benchbrief.model.measurement import Sample
from benchbrief.model.plan import Origin, Probe
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.jobs.tasks import Job, JobOutput
from benchbrief.runners.journal.controller_clock import since_boot
from benchbrief.runners.plugins import probe_kind
from benchbrief.runners.sampling import FileReads, ReadsFiles, parse_readings, reading_job, sampling_job
from benchbrief.runners.seams import ProbeKind, Transport
from tests.support import cells
from tests.support.waiting import until

NODE = cells.node()


def probe(name: str, every_s: float = 1.0, **options: str) -> Probe:
    origin = Origin(file="x.bench", line=1, column=1)
    return Probe(name=name, every_s=every_s, hosts=("node1",), options=options, origin=origin)


def output(directory: Path, stdout: str, stderr: str = "") -> JobOutput:
    (directory / "stdout").write_text(stdout)
    (directory / "stderr").write_text(stderr)
    return JobOutput(directory, None, 0.0, 0.0, "node1")


def diskstats(name: str, *, reads: int = 0, sectors: int = 0, writes: int = 0, written: int = 0, **ms: int) -> str:
    """Return a line of diskstats. `ms` has milliseconds by name: `read_ms`, `write_ms`, `busy` and `queued`."""
    took = [ms.get(key, 0) for key in ("read_ms", "write_ms", "busy", "queued")]
    return f" 259 0 {name} {reads} 0 {sectors} {took[0]} {writes} 0 {written} {took[1]} 0 {took[2]} {took[3]} 0 0 0 0"


def printed(header: str, *readings: tuple[float, str]) -> str:
    return f"{header}\n" + "".join(f"= {at:.9f}\n{text}\n.\n" for at, text in readings)


def values(samples: tuple[Sample, ...], measure: str) -> list[float]:
    return [sample.value for sample in samples if sample.measure == measure]


def sampled(kind: ProbeKind, what: Probe, transport: Transport, seconds: float, into: Path) -> tuple[Sample, ...]:
    running = transport.start(kind.job(what, NODE))
    until(lambda: running.tail().count("\n.") >= 1)
    started = time.time()
    while time.time() < started + seconds:
        sum(range(100_000))
    ended = time.time()
    until(lambda: float(re.findall(r"^= (\S+) ", running.tail(10_000), re.MULTILINE)[-1]) >= ended)
    running.stop()
    return kind.parse(what, running.collect(into), (started, ended))


# --- for real ----------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_cpu_probe_sees_this_process_burn_a_core(here: Transport, tmp_path: Path) -> None:
    samples = sampled(Cpu(), probe("cpu", 0.2), here, 3.0, tmp_path / "kept")  # some may be late
    busy = values(samples, "cpu")
    cores = os.cpu_count() or 1
    assert len(busy) >= 5
    assert all(0 <= value <= cores for value in busy)
    assert sum(busy) / len(busy) > 0.5
    for measure in ("cpu.utilisation", "cpu.iowait", "cpu.steal"):
        assert all(0 <= value <= 1 for value in values(samples, measure))
    assert [b * cores for b in values(samples, "cpu.utilisation")] == pytest.approx(busy)
    assert {(sample.node, sample.device) for sample in samples} == {("local", "")}


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


def test_the_network_probe_counts_what_goes_through_an_interface(here: Transport, tmp_path: Path) -> None:
    what = probe("network", 0.2, interface="lo")
    size = 20 << 20
    running = here.start(Network().job(what, NODE))
    # A host with many interfaces tells more than the tail's usual length in one sample.
    until(lambda: running.tail(100_000).count("\n.") >= 2)
    started = time.time()
    ours, theirs = connected()
    reader = threading.Thread(target=lambda: [None for _ in iter(lambda: theirs.recv(1 << 20), b"")])
    reader.start()
    with theirs:
        with ours:
            ours.sendall(bytes(size))
        reader.join()
    ended = time.time() + 0.5
    until(lambda: float(re.findall(r"^= (\S+) ", running.tail(100_000), re.MULTILINE)[-1]) >= ended)
    running.stop()
    samples = Network().parse(what, running.collect(tmp_path / "kept"), (started - 0.3, ended))
    assert {sample.device for sample in samples} == {"lo"}
    times = [sample.time for sample in samples if sample.measure == "network.received"]
    lengths = [0.2, *(b - a for a, b in pairwise(times))]
    received = sum(rate * each for rate, each in zip(values(samples, "network.received"), lengths, strict=True))
    assert received > 0.8 * size
    assert values(samples, "network.sent") == values(samples, "network.received")  # of the loopback
    assert sum(values(samples, "network.packets_received")) > 0


def connected() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        ours = socket.create_connection(server.getsockname())
        return ours, server.accept()[0]


def test_without_an_interface_the_loopback_is_left_out(here: Transport, tmp_path: Path) -> None:
    samples = sampled(Network(), probe("network", 0.1), here, 0.4, tmp_path / "kept")
    there = {path.name for path in Path("/sys/class/net").iterdir()} - {"lo"}
    assert {sample.device for sample in samples} <= there
    assert samples


def test_an_interface_that_is_missing_is_said(here: Transport, tmp_path: Path) -> None:
    what = probe("network", 0.1, interface="lo no-such0")
    with pytest.raises(BadOutput, match="the network probe can't read on local: no network interface no-such0"):
        sampled(Network(), what, here, 0.2, tmp_path / "kept")


def test_probes_that_share_a_loop_each_find_their_own(here: Transport, tmp_path: Path) -> None:
    probes = [probe("cpu", 0.2), probe("disk", 0.2, device="/dev/no-such-disk"), probe("memory", 0.2)]
    reads = [(probes[0], Cpu().reads(probes[0])), (probes[1], Disk().reads(probes[1]))]
    running = here.start(reading_job([*reads, (probes[2], Memory().reads(probes[2]))]))
    started = time.time()
    until(lambda: running.tail(20_000).count("\n.") >= 4)
    ended = time.time()
    running.stop()
    kept = running.collect(tmp_path / "kept")
    assert kept.stderr.read_text() == ""
    assert len(values(Cpu().parse(probes[0], kept, (started, ended)), "cpu")) >= 2
    assert len(values(Memory().parse(probes[2], kept, (started, ended)), "memory.used")) >= 3
    with pytest.raises(BadOutput, match="no device /dev/no-such-disk"):
        Disk().parse(probes[1], kept, (started, ended))


def test_a_number_of_the_kernels_settings_is_read_and_a_missing_file_left_out(here: Transport, tmp_path: Path) -> None:
    """Files in /proc/sys return their numbers only to the first read after they are opened."""
    reads = FileReads({"/proc/sys/fs/file-nr": 'print "files", $1', "/proc/no-such-file": "print"})
    running = here.start(reading_job([(probe("files", 0.2), reads)]))
    until(lambda: running.tail().count("\n.") >= 2)
    running.stop()
    _, found = parse_readings(running.collect(tmp_path / "kept"))
    assert [re.sub(r"\d+", "N", " ".join(reading.lines)) for reading in found] == ["files N"] * len(found)


def test_readings_do_not_drift(here: Transport) -> None:
    """If the work for each reading were added to the pause, ten readings would always take about 50 ms longer.

    A busy machine may delay a reading, which must not delay the next ones. The test waits for ten successive readings
    without such a delay.
    """
    running = here.start(Cpu().job(probe("cpu", 0.1), NODE))

    def shortest() -> float:
        times = [float(at) for at in re.findall(r"^= (\d{9,}\.\d+) ", running.tail(20_000), re.MULTILINE)]
        return min((b - a for a, b in zip(times, times[10:], strict=False)), default=math.inf)

    try:
        until(lambda: shortest() < 1.02, within_s=90)
    finally:
        running.stop()
        running.discard()


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


def run_loop(job: Job, directory: Path, rounds: int) -> float:
    """Return how many CPU seconds a probe's loop takes for this many readings, without its sleep."""
    line = job.command.words[2]
    assert isinstance(line, str)
    line = re.sub(r"rounds=\d+", f"rounds={rounds}", re.sub(r'sleep "[^|]*"', "sleep 0", line))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(["sh", "-c", line], cwd=directory, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.stdout.count(b"\n.\n") == rounds
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_a_reading_a_second_for_all_probes_of_a_host_costs_less_than_a_hundredth_of_a_core(tmp_path: Path) -> None:
    kinds = [probe_kind(name) for name in PROBE_SPECS.own]
    reads = [(probe(kind.name), kind.reads(probe(kind.name))) for kind in kinds if isinstance(kind, ReadsFiles)]
    assert {what.name for what, _ in reads} >= {"cpu", "disk", "memory", "network", "tcp"}
    assert run_loop(reading_job(reads), tmp_path, 40) / 40 < 0.01


@pytest.mark.parametrize("kind", [Disk(), Cpu()], ids=["disk", "cpu"])
def test_a_probe_ends_when_its_directory_goes(kind: ProbeKind, tmp_path: Path) -> None:
    directory = tmp_path / "work"
    directory.mkdir()
    words = [str(word) for word in kind.job(probe(kind.name, 0.05), NODE).command.words]
    with (tmp_path / "out").open("wb") as out:
        process = subprocess.Popen(words, cwd=directory, stdout=out)
    try:
        until(lambda: (tmp_path / "out").read_bytes().count(b"\n.\n") >= 2)
        assert process.poll() is None
        directory.rmdir()
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()


# --- what is made of the readings --------------------------------------------------------------------------------


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


def ticking(start: int, end: int, step: int = 10) -> str:
    """Return readings one second apart. In each second, `step` reads happen."""
    return printed("disks a", *((float(t), diskstats("a", reads=t * step)) for t in range(start, end + 1)))


def test_intervals_across_the_ends_of_the_window_count_as_far_as_they_are_inside(tmp_path: Path) -> None:
    samples = Disk().parse(probe("disk"), output(tmp_path, ticking(90, 110)), (99.5, 104.25))
    found = [(sample.time, sample.seconds) for sample in samples if sample.measure == "disk.reads"]
    assert found == [(0.5, 0.5), (1.5, 1.0), (2.5, 1.0), (3.5, 1.0), (4.5, 1.0), (4.75, 0.25)]
    assert values(samples, "disk.reads") == [10.0] * 6


def test_a_burst_at_an_end_of_a_short_window_is_in_its_mean(tmp_path: Path) -> None:
    """Most of the writes in the four seconds come in the last second, which ends between two readings."""
    written = [0, 0, 50_000, 100_000, 150_000, 430_000, 435_000]
    readings = [(98.6 + n, diskstats("a", written=each)) for n, each in enumerate(written)]
    samples = Disk().parse(probe("disk"), output(tmp_path, printed("disks a", *readings)), (99.0, 103.0))
    found = [sample for sample in samples if sample.measure == "disk.write"]
    at_start, at_end = 0.0, 150_000 + 0.4 * 280_000
    assert sum(sample.seconds for sample in found) == pytest.approx(4.0)
    assert sum(sample.value * sample.seconds for sample in found) == pytest.approx(512 * (at_end - at_start))


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


def test_a_reading_that_was_cut_off_is_not_used(tmp_path: Path) -> None:
    text = ticking(99, 101) + "= 102.0\n 259 0 a 1"
    samples = Disk().parse(probe("disk"), output(tmp_path, text), (99, 102))
    assert values(samples, "disk.reads") == [10.0, 10.0]


@pytest.mark.parametrize(("start", "end"), [(80, 95), (112, 130)])
def test_a_probe_that_did_not_run_during_the_measurement_is_an_error(tmp_path: Path, start: int, end: int) -> None:
    with pytest.raises(BadOutput, match=r"the disk probe ran from .* it said nothing of why"):
        Disk().parse(probe("disk"), output(tmp_path, ticking(start, end)), (98.0, 110.0))


def test_a_probe_that_began_late_and_ended_early_gives_what_it_has(tmp_path: Path) -> None:
    samples = Disk().parse(probe("disk"), output(tmp_path, ticking(103, 106)), (98.0, 110.0))
    assert [sample.time for sample in samples if sample.measure == "disk.reads"] == [6.0, 7.0, 8.0]


def test_over_missed_readings_nothing_is_known(tmp_path: Path) -> None:
    readings = [(float(t), diskstats("a", reads=10 * t)) for t in (100, 101, 103, 106, 107)]
    samples = Disk().parse(probe("disk"), output(tmp_path, printed("disks a", *readings)), (100, 107))
    assert [(s.time, s.value) for s in samples if s.measure == "disk.reads"] == [(1.0, 10.0), (3.0, 10.0), (7.0, 10.0)]


def booted(header: str, *readings: tuple[float, float, str]) -> str:
    """Return readings with both the time since boot and the clock's time."""
    return f"{header}\n" + "".join(f"= {at:.9f} {up:.2f}\n{text}\n.\n" for at, up, text in readings)


@pytest.mark.parametrize("step", [3600.0, -3600.0])
def test_readings_go_on_by_the_time_since_boot_when_the_clock_is_set(tmp_path: Path, step: float) -> None:
    readings = [(9000 + t + (step if t > 3 else 0.0), t + 50.0, diskstats("a", reads=10 * t)) for t in range(8)]
    samples = Disk().parse(probe("disk"), output(tmp_path, booted("disks a", *readings)), (9000, 9007))
    reads = [(s.time, s.value) for s in samples if s.measure == "disk.reads"]
    assert reads == [(float(t), 10.0) for t in range(1, 8)]


def test_a_probe_that_printed_nothing_is_an_error_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(BadOutput, match="the probe printed no reading: grep: /proc/diskstats: No such file"):
        Disk().parse(probe("disk"), output(tmp_path, "disks a\n", "grep: /proc/diskstats: No such file\n"), (0, 1))


def test_a_disk_that_the_kernel_does_not_count_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadOutput, match="does not have b"):
        Disk().parse(probe("disk"), output(tmp_path, ticking(99, 101).replace("disks a", "disks a b")), (99, 101))


@pytest.mark.parametrize("noise", ["= soon\n.\n", "= 1e9\n.\n", "\0\xff\n", "x" * 50_000 + "\n", "= 5\n= 6\n"])
def test_noise_among_the_readings_does_no_harm(tmp_path: Path, noise: str) -> None:
    lines = ticking(99, 101).split("= 100")
    samples = Disk().parse(probe("disk"), output(tmp_path, f"{lines[0]}{noise}= 100{lines[1]}"), (99, 101))
    assert values(samples, "disk.reads") == [10.0, 10.0]


def stat(*ticks: int) -> str:
    return "cpu  " + " ".join(map(str, ticks))


def test_processor_time_becomes_busy_cores_and_shares(tmp_path: Path) -> None:
    # user nice system idle iowait irq softirq steal guest guest_nice; the guest's time is in user already
    before = stat(100, 0, 50, 1000, 10, 0, 0, 0, 0, 0)
    after = stat(200, 10, 80, 1200, 30, 5, 15, 20, 50, 0)
    text = printed("processors 4", (100.0, before), (101.0, after))
    samples = Cpu().parse(probe("cpu"), output(tmp_path, text), (100, 101))
    assert [(s.measure, s.node, s.device, s.time, s.unit) for s in samples] == [
        ("cpu", "node1", "", 1.0, "cores"),
        ("cpu.utilisation", "node1", "", 1.0, ""),
        ("cpu.iowait", "node1", "", 1.0, ""),
        ("cpu.steal", "node1", "", 1.0, ""),
    ]
    assert [s.value for s in samples] == pytest.approx([4 * 160 / 400, 160 / 400, 20 / 400, 20 / 400])


def test_processor_time_that_goes_backwards_leaves_a_gap(tmp_path: Path) -> None:
    ticks = [(0, 0), (100, 5), (200, 4), (300, 6)]
    readings = [(100.0 + i, stat(0, 0, 0, idle, iowait, 0, 0, 0)) for i, (idle, iowait) in enumerate(ticks)]
    samples = Cpu().parse(probe("cpu"), output(tmp_path, printed("processors 1", *readings)), (100, 103))
    assert [sample.time for sample in samples if sample.measure == "cpu"] == [1.0, 3.0]


def test_a_host_that_does_not_count_its_processors_is_an_error(tmp_path: Path) -> None:
    text = printed("processors ", (100.0, stat(*range(8))), (101.0, stat(*range(8))))
    with pytest.raises(BadOutput, match="how many processors"):
        Cpu().parse(probe("cpu"), output(tmp_path, text), (100, 101))


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


def test_gauges_are_those_of_the_window_and_readings_follow_one_another(tmp_path: Path) -> None:
    at = (98.0, 99.5, 100.5, 100.5, 100.2, 101.5, 102.5)
    tables = [f"MemTotal: 1000 kB\nMemAvailable: {1000 - n} kB" for n in range(len(at))]
    text = printed("page 4096", *zip(at, tables, strict=True))
    samples = Memory().parse(probe("memory"), output(tmp_path, text), (99.0, 102.0))
    used = [(sample.time, sample.value / 1024) for sample in samples if sample.measure == "memory.used"]
    assert used == [(0.5, 1.0), (1.5, 2.0), (2.5, 5.0)], "not of the same moment again, nor of one before"


def test_a_host_without_available_memory_in_its_table_is_an_error(tmp_path: Path) -> None:
    text = printed("page 4096", (100.0, "MemFree: 5 kB"), (101.0, "MemFree: 5 kB"))
    with pytest.raises(BadOutput, match="how much memory is available"):
        Memory().parse(probe("memory"), output(tmp_path, text), (100, 101))


def test_interfaces_counters_become_rates(tmp_path: Path) -> None:
    before = "eth0: 1000 10 0 1 0 0 0 0 2000 20 0 0 0 0 0 0"
    after = "eth0: 5000 30 1 3 0 0 0 0 2600 26 1 4 0 0 0 0"
    text = printed("interfaces eth0", (100.0, before), (102.0, f"{after}\nlo: {' '.join('9' * 16)}"))
    samples = Network().parse(probe("network"), output(tmp_path, text), (100, 102))
    assert {sample.measure: (sample.value, sample.unit) for sample in samples} == {
        "network.received": (2000.0, "B/s"),
        "network.sent": (300.0, "B/s"),
        "network.packets_received": (10.0, "1/s"),
        "network.packets_sent": (3.0, "1/s"),
        "network.errors": (1.0, "1/s"),
        "network.drops": (3.0, "1/s"),
    }


def test_an_interface_that_was_made_anew_leaves_a_gap(tmp_path: Path) -> None:
    lines = ["eth0: " + " ".join([str(count)] * 16) for count in (10, 20, 0, 10)]
    text = printed("interfaces eth0", *((100.0 + at, line) for at, line in enumerate(lines)))
    samples = Network().parse(probe("network"), output(tmp_path, text), (100, 103))
    assert [sample.time for sample in samples if sample.measure == "network.sent"] == [1.0, 3.0]


def test_counters_are_read_once_more_when_the_probe_is_stopped(here: Transport, tmp_path: Path) -> None:
    """So the end of a short window is covered even if the counters are rarely read."""
    what = probe("cpu").model_copy(update={"every_s": 30.0})
    running = here.start(Cpu().job(what, NODE))
    until(lambda: running.tail().count("\n.\n") == 1)
    read_at = since_boot()
    until(lambda: since_boot() >= read_at + 1.1)
    running.stop()
    kept = running.collect(tmp_path / "kept")
    running.discard()
    first, last = parse_readings(kept)[1]
    assert last.time - first.time >= 1.0
    assert kept.stderr.read_text() == ""
    samples = Cpu().parse(what, kept, (first.time + 0.25, last.time - 0.25))
    assert [sample.seconds for sample in samples if sample.measure == "cpu"] == [
        pytest.approx(last.time - first.time - 0.5)
    ]


def test_a_reading_that_the_stop_interrupts_is_not_taken_for_whole(here: Transport, tmp_path: Path) -> None:
    job = sampling_job(probe("cpu"), 'echo begun; [ -n "$last" ] || sleep 30; echo ended', counts=True)
    running = here.start(job)
    until(lambda: "begun" in running.tail())
    running.stop()
    _, first, last = running.collect(tmp_path / "kept").stdout.read_text().split("= ")
    running.discard()
    assert first.endswith("begun\nended\n")
    assert last.endswith("begun\nended\n.\n")

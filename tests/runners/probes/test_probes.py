"""The disk and cpu probes: run for real on this machine, and given what other machines would have printed."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from benchbrief.compiler.plan import Host, Origin, Probe
from benchbrief.runners.measurement import Sample
from benchbrief.runners.probes.cpu import Cpu
from benchbrief.runners.probes.disk import Disk
from benchbrief.runners.seams import BadOutput, Job, JobOutput, ProbeKind, Transport
from benchbrief.runners.transports import open_transport
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


def diskstats(name: str, *, reads: int = 0, sectors: int = 0, writes: int = 0, written: int = 0, busy: int = 0) -> str:
    return f" 259 0 {name} {reads} 0 {sectors} 0 {writes} 0 {written} 0 0 {busy} 0 0 0 0 0"


def printed(header: str, *readings: tuple[float, str]) -> str:
    return f"{header}\n" + "".join(f"= {at:.9f}\n{text}\n.\n" for at, text in readings)


def values(samples: tuple[Sample, ...], measure: str) -> list[float]:
    return [sample.value for sample in samples if sample.measure == measure]


@pytest.fixture
def here() -> Iterator[Transport]:
    transport = open_transport(Host(id="local", transport="local", name="local"))
    yield transport
    transport.end_leftovers()
    transport.close()


def sampled(kind: ProbeKind, what: Probe, transport: Transport, seconds: float, into: Path) -> tuple[Sample, ...]:
    running = transport.start(kind.job(what, NODE))
    until(lambda: running.tail().count("\n.") >= 1)
    started = time.time()
    while time.time() < started + seconds:
        sum(range(100_000))
    ended = time.time()
    until(lambda: float(re.findall(r"^= (\S+)$", running.tail(10_000), re.MULTILINE)[-1]) >= ended)
    running.stop()
    return kind.parse(what, running.collect(into), (started, ended))


# --- for real ----------------------------------------------------------------------------------------------------


def test_the_cpu_probe_sees_this_process_burn_a_core(here: Transport, tmp_path: Path) -> None:
    samples = sampled(Cpu(), probe("cpu", 0.2), here, 1.6, tmp_path / "kept")
    busy = values(samples, "cpu")
    cores = os.cpu_count() or 1
    assert len(busy) >= 5
    assert all(0 <= value <= cores for value in busy)
    assert sum(busy) / len(busy) > 0.5
    for measure in ("cpu.utilisation", "cpu.iowait", "cpu.steal"):
        assert all(0 <= value <= 1 for value in values(samples, measure))
    assert [b * cores for b in values(samples, "cpu.utilisation")] == pytest.approx(busy)
    assert {(sample.node, sample.device) for sample in samples} == {("local", "")}


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
        until(lambda: float(re.findall(r"^= (\S+)$", running.tail(10_000), re.MULTILINE)[-1]) >= ended)
        running.stop()
        # The window begins before the writing, so that the first interval is in it.
        samples = Disk().parse(what, running.collect(tmp_path / "kept"), (started - 0.4, ended))
    finally:
        scratch.unlink()
    times = sorted({sample.time for sample in samples})
    lengths = [0.2, *(b - a for a, b in pairwise(times))]
    written = sum(rate * length for rate, length in zip(values(samples, "disk.write"), lengths, strict=True))
    assert {sample.device for sample in samples} == {Path(device).resolve().name}
    assert written > 0.8 * size
    assert sum(values(samples, "disk.writes")) > 0
    assert all(0 <= share <= 1 for share in values(samples, "disk.utilisation"))


def test_without_a_device_whole_disks_are_sampled_and_nothing_twice(here: Transport, tmp_path: Path) -> None:
    samples = sampled(Disk(), probe("disk", 0.1), here, 0.4, tmp_path / "kept")
    names = {sample.device for sample in samples}
    disks = subprocess.check_output(["lsblk", "-dnr", "-o", "NAME,TYPE"], text=True).splitlines()
    assert names <= {line.split()[0] for line in disks if line.endswith(" disk")}
    assert not {name for name in names if name.startswith(("loop", "ram", "zram", "dm-", "md"))}
    assert names


def test_a_device_that_is_missing_is_said(here: Transport, tmp_path: Path) -> None:
    what = probe("disk", 0.1, device="/dev/no-such-disk")
    running = here.start(Disk().job(what, NODE))
    assert running.wait(5)
    with pytest.raises(BadOutput, match="no device /dev/no-such-disk"):
        Disk().parse(what, running.collect(tmp_path / "kept"), (0, 1))


def test_a_file_system_in_memory_has_no_disk_and_that_is_not_zero(here: Transport, tmp_path: Path) -> None:
    assert sampled(Disk(), probe("disk", 0.1, device="/dev/shm/not yet"), here, 0.3, tmp_path / "kept") == ()


def run_loop(job: Job, directory: Path, rounds: int) -> float:
    """CPU seconds of a probe's loop for so many readings, without its sleep."""
    line = job.command.words[2]
    assert isinstance(line, str)
    line = re.sub(r"-lt \d+", f"-lt {rounds}", re.sub(r"sleep \S+;", "sleep 0;", line))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(["sh", "-c", line], cwd=directory, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.stdout.count(b"\n.\n") == rounds
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("kind", [Disk(), Cpu()], ids=["disk", "cpu"])
def test_a_reading_a_second_costs_less_than_a_hundredth_of_a_core(kind: ProbeKind, tmp_path: Path) -> None:
    assert run_loop(kind.job(probe(kind.name), NODE), tmp_path, 40) / 40 < 0.01


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
        assert process.wait(5) == 0
    finally:
        process.kill()
        process.wait()


# --- what is made of the readings --------------------------------------------------------------------------------


def test_disk_counters_become_rates_over_the_time_between_readings(tmp_path: Path) -> None:
    text = printed(
        "disks nvme0n1",
        (99.0, diskstats("nvme0n1", reads=100, sectors=1000, writes=50, written=400, busy=10)),
        (101.0, diskstats("nvme0n1", reads=300, sectors=5000, writes=60, written=600, busy=510)),
    )
    samples = Disk().parse(probe("disk"), output(tmp_path, text), (99.0, 101.5))
    assert samples == (
        Sample("disk.read", "node1", "nvme0n1", 2.0, 4000 * 512 / 2, "B/s"),
        Sample("disk.write", "node1", "nvme0n1", 2.0, 200 * 512 / 2, "B/s"),
        Sample("disk.reads", "node1", "nvme0n1", 2.0, 100.0, "1/s"),
        Sample("disk.writes", "node1", "nvme0n1", 2.0, 5.0, "1/s"),
        Sample("disk.utilisation", "node1", "nvme0n1", 2.0, 0.25, ""),
    )


def ticking(start: int, end: int, step: int = 10) -> str:
    """Readings a second apart in which every second reads `step` times."""
    return printed("disks a", *((float(t), diskstats("a", reads=t * step)) for t in range(start, end + 1)))


def test_only_intervals_wholly_inside_the_window_count(tmp_path: Path) -> None:
    samples = Disk().parse(probe("disk"), output(tmp_path, ticking(90, 110)), (99.5, 104.5))
    assert [sample.time for sample in samples if sample.measure == "disk.reads"] == [1.5, 2.5, 3.5, 4.5]
    assert values(samples, "disk.reads") == [10.0] * 4


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


@pytest.mark.parametrize(("start", "end"), [(80, 95), (105, 130), (104, 106)])
def test_a_probe_that_did_not_run_all_through_the_measurement_is_an_error(tmp_path: Path, start: int, end: int) -> None:
    with pytest.raises(BadOutput, match=r"the disk probe ran from .* it said nothing of why"):
        Disk().parse(probe("disk"), output(tmp_path, ticking(start, end)), (98.0, 110.0))


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

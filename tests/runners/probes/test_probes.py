"""Tests the common parts of all probes: the loop that reads on a host, and the parsing of its readings."""

from __future__ import annotations

import math
import re
import resource
import subprocess
import time
from pathlib import Path

import pytest

from benchbrief.compiler.registry import PROBE_SPECS
from benchbrief.extensions.probes.cpu.cpu_probe import Cpu
from benchbrief.extensions.probes.disk.disk_probe import Disk
from benchbrief.extensions.probes.memory.memory_probe import Memory
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.jobs.tasks import Job
from benchbrief.runners.journal.controller_clock import since_boot
from benchbrief.runners.plugins import probe_kind
from benchbrief.runners.sampling import FileReads, ReadsFiles, parse_readings, parse_recent, reading_job, sampling_job
from benchbrief.runners.seams import ProbeKind, Transport
from tests.support.probe_readings import NODE, diskstats, output, printed, probe, ticking, values
from tests.support.waiting import until


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


def test_the_mistake_of_one_probe_costs_only_its_own_samples(here: Transport, tmp_path: Path) -> None:
    memory, wrong = probe("memory", 0.2), probe("cpu", 0.2)
    reads = [(memory, Memory().reads(memory)), (wrong, FileReads({"/proc/stat": "if (/^cpu /) print )"}))]
    running = here.start(reading_job(reads))
    started = time.time()
    until(lambda: running.tail(20_000).count("\n.") >= 3)
    assert parse_recent(running.tail(20_000))[-1].lines[-1].startswith("failed: cpu: ")
    running.stop()
    kept = running.collect(tmp_path / "kept")
    assert len(values(Memory().parse(memory, kept, (started, time.time())), "memory.used")) >= 2
    with pytest.raises(BadOutput, match="can't read on local: awk: "):
        Cpu().parse(wrong, kept, (started, time.time()))


def test_a_file_that_vanishes_costs_the_other_probes_nothing(here: Transport, tmp_path: Path) -> None:
    memory, other, there = probe("memory", 0.2), probe("cpu", 0.2), tmp_path / "there"
    there.write_text("1\n")
    running = here.start(reading_job([(memory, Memory().reads(memory)), (other, FileReads({str(there): "print"}))]))
    until(lambda: running.tail(20_000).count("\n.") >= 2)
    there.unlink()
    gone = time.time()
    until(lambda: len([each for each in parse_recent(running.tail(20_000)) if each.time > gone]) >= 3)
    running.stop()
    kept = running.collect(tmp_path / "kept")
    assert len(values(Memory().parse(memory, kept, (gone, time.time())), "memory.used")) >= 2


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


def test_a_script_that_fails_at_each_reading_is_quoted_with_its_first_words(tmp_path: Path) -> None:
    empty = "".join(f"= {at}.0\n.\n" for at in range(3))
    kept = output(tmp_path, empty, "cat: /proc/none: No such file\n" * 3 + "Terminated\n")
    with pytest.raises(BadOutput, match="the probe printed no reading: cat: /proc/none: No such file"):
        parse_readings(kept, "own")


@pytest.mark.parametrize("noise", ["= soon\n.\n", "= 1e9\n.\n", "\0\xff\n", "x" * 50_000 + "\n", "= 5\n= 6\n"])
def test_noise_among_the_readings_does_no_harm(tmp_path: Path, noise: str) -> None:
    lines = ticking(99, 101).split("= 100")
    samples = Disk().parse(probe("disk"), output(tmp_path, f"{lines[0]}{noise}= 100{lines[1]}"), (99, 101))
    assert values(samples, "disk.reads") == [10.0, 10.0]


def test_gauges_are_those_of_the_window_and_readings_follow_one_another(tmp_path: Path) -> None:
    at = (98.0, 99.5, 100.5, 100.5, 100.2, 101.5, 102.5)
    tables = [f"MemTotal: 1000 kB\nMemAvailable: {1000 - n} kB" for n in range(len(at))]
    text = printed("page 4096", *zip(at, tables, strict=True))
    samples = Memory().parse(probe("memory"), output(tmp_path, text), (99.0, 102.0))
    used = [(sample.time, sample.value / 1024) for sample in samples if sample.measure == "memory.used"]
    assert used == [(0.5, 1.0), (1.5, 2.0), (2.5, 5.0)], "not of the same moment again, nor of one before"


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
    read = '[ -n "$last" ] || sleep 30 & echo begun; wait; echo ended'  # it sleeps before it says that it has begun
    job = sampling_job(probe("cpu"), read, counts=True)
    running = here.start(job)
    until(lambda: "begun" in running.tail())
    running.stop()
    _, first, last = running.collect(tmp_path / "kept").stdout.read_text().split("= ")
    running.discard()
    assert first.endswith("begun\nended\n")
    assert last.endswith("begun\nended\n.\n")

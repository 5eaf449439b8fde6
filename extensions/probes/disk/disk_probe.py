"""The `disk` probe: the kernel's counters of block devices, from /proc/diskstats.

See https://www.kernel.org/doc/Documentation/admin-guide/iostats.rst for the fields. The kernel always counts sectors of
512 bytes, even if the device's own sectors are larger.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Protocol

from benchbrief.extend.common import (
    BadOutput,
    Job,
    JobOutput,
    Message,
    Node,
    Probe,
    Sample,
    read_script,
    speaker,
    with_values,
)
from benchbrief.extend.probes import (
    FileReads,
    Reading,
    is_count,
    parse_readings,
    pressure,
    pressure_rule,
    reading_job,
    steps_in_window,
)


class DiskMessages(Protocol):
    def no_disk(self, *, host: object) -> Message: ...
    def disks_missing(self, *, host: object, names: object) -> Message: ...
    def hint_name_disk(self) -> Message: ...


say: DiskMessages = speaker(DiskMessages)


_READ = "if ($3 !~ /^(loop|ram|zram|sr|fd)[0-9]/) print"
_ALL = read_script(__file__, "all_disks.sh")
_OF_PATH = read_script(__file__, "disk_of_path.sh")

_SECTOR = 512
_FIELDS = 11
"""How many numbers follow a device's name in every kernel from 2.6 on."""


class Disk:
    """Bytes and requests per second, the time that requests take, and the share of time that a device was busy.

    Covers all whole disks. The option `device` limits the probe to one block device, given by its name or by a path on
    it. The pressure is the time in which some task of the host waited for any device. It is missing if the kernel does
    not count it. See `seams.ProbeKind`.
    """

    name: ClassVar[str] = "disk"

    def reads(self, probe: Probe) -> FileReads:
        device = probe.options.get("device")
        header = _ALL if device is None else with_values(_OF_PATH, path=device)
        return FileReads({"/proc/diskstats": _READ, **pressure_rule("io")}, header)

    def job(self, probe: Probe, node: Node) -> Job:
        return reading_job([(probe, self.reads(probe))])

    def parse(self, probe: Probe, output: JobOutput, window: tuple[float, float]) -> tuple[Sample, ...]:
        header, found = parse_readings(output, self.name)
        disks = [name for line in header if line.startswith("disks") for name in line.split()[1:]]
        if not disks:
            if "memory" in header:
                return ()  # a file system in memory has no device, so its values are unknown and not zero
            raise BadOutput(say.no_disk(host=output.host), say.hint_name_disk())
        missing = [name for name in disks if all(name not in _counts(reading) for reading in found)]
        if missing:
            raise BadOutput(say.disks_missing(host=output.host, names=", ".join(missing)))
        samples = []
        for step in steps_in_window(probe, output, found, window):
            before, after = _counts(step.before), _counts(step.after)
            waited = pressure("io", step)
            if waited is not None:
                samples.append(Sample("disk.pressure", output.host, "", step.time, waited, "", step.inside))
            for disk in disks:
                if disk in before and disk in after:
                    for measure, value, unit in _rates(before[disk], after[disk], step.seconds):
                        samples.append(Sample(measure, output.host, disk, step.time, value, unit, step.inside))
        return tuple(samples)


def _rates(before: tuple[int, ...], after: tuple[int, ...], seconds: float) -> list[tuple[str, float, str]]:
    """Return (measure, value, unit) for an interval. Returns nothing if a counter decreased, because it was reset or
    wrapped around."""
    moved = [b - a for a, b in zip(before, after, strict=True)]
    reads, sectors_read, read_ms, writes, sectors_written, write_ms = (moved[i] for i in (0, 2, 3, 4, 6, 7))
    busy_ms, queued_ms = moved[9], moved[10]
    if min(reads, sectors_read, read_ms, writes, sectors_written, write_ms, busy_ms, queued_ms) < 0:
        return []
    # An interval without requests has no request time, which is not zero.
    return [
        ("disk.read", sectors_read * _SECTOR / seconds, "B/s"),
        ("disk.write", sectors_written * _SECTOR / seconds, "B/s"),
        ("disk.reads", reads / seconds, "1/s"),
        ("disk.writes", writes / seconds, "1/s"),
        # The kernel rounds to its clock's ticks, so the sum may exceed the interval a little.
        ("disk.utilisation", min(1.0, busy_ms / 1000 / seconds), ""),
        ("disk.queue", queued_ms / 1000 / seconds, ""),
        *([("disk.read_await", read_ms / 1000 / reads, "s")] if reads else []),
        *([("disk.write_await", write_ms / 1000 / writes, "s")] if writes else []),
    ]


def _counts(reading: Reading) -> Mapping[str, tuple[int, ...]]:
    found = {}
    for line in reading.lines:
        words = line.split()
        if len(words) >= 3 + _FIELDS and all(map(is_count, words[3 : 3 + _FIELDS])):
            found[words[2]] = tuple(int(word) for word in words[3 : 3 + _FIELDS])
    return found

"""The `disk` probe: what the kernel counts of block devices, in /proc/diskstats.

See https://www.kernel.org/doc/Documentation/admin-guide/iostats.rst for its fields. Its sectors are of 512 bytes,
whatever the device's are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from benchbrief.compiler.plan import Probe
from benchbrief.runners.commands import quote
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.measurement import Sample
from benchbrief.runners.probes import FileReads, Reading, is_count, reading_job, readings, steps
from benchbrief.runners.probes.pressure import pressure, pressure_rule
from benchbrief.runners.seams import Node
from benchbrief.runners.tasks import Job, JobOutput

_READ = "if ($3 !~ /^(loop|ram|zram|sr|fd)[0-9]/) print"
# Whole disks have a device behind them; partitions, loops, RAM disks and mapped devices would count twice.
_ALL = """\
printf disks
for e in /sys/block/*; do
    case ${e##*/} in loop*|ram*|zram*|sr*|fd*|dm-*|md*) continue;; esac
    [ -e "$e/device" ] && printf ' %s' "${e##*/}"
done
echo"""
# A device is itself; a path means the device that its file system is on, and one in memory is on none.
_ONE = """\
x=@device@
while [ ! -e "$x" ]; do
    case $x in /dev/shm/*) ;; /dev/*) echo "no device $x" >&2; exit 1;; /|.) break;; esac
    x=$(dirname -- "$x")
done
if [ ! -b "$x" ]; then
    s=$(LC_ALL=C df -P -- "$x" | tail -n 1)
    case $s in
        /dev/*) x=${s%% *};;
        tmpfs*|ramfs*|none*) echo memory; x=;;
        *) echo "no device under $x" >&2; exit 1;;
    esac
fi
[ -z "$x" ] || { x=$(readlink -f -- "$x"); echo "disks ${x##*/}"; }"""

_SECTOR = 512
_FIELDS = 11
"""Numbers after the name that every kernel since 2.6 prints."""


class Disk:
    """Bytes and requests per second, how long requests took, and the share of time that a device was busy.

    Without the option `device`, all whole disks; with it, that block device, or the one under that path. The pressure,
    the time in which some task of the host waited for any device, is there where the kernel accounts for it. See
    `seams.ProbeKind`.
    """

    name: ClassVar[str] = "disk"

    def reads(self, probe: Probe) -> FileReads:
        device = probe.options.get("device")
        header = _ALL if device is None else _ONE.replace("@device@", quote(device))
        return FileReads({"/proc/diskstats": _READ, **pressure_rule("io")}, header)

    def job(self, probe: Probe, node: Node) -> Job:
        return reading_job([(probe, self.reads(probe))])

    def parse(self, probe: Probe, output: JobOutput, window: tuple[float, float]) -> tuple[Sample, ...]:
        header, found = readings(output, self.name)
        disks = [name for line in header if line.startswith("disks") for name in line.split()[1:]]
        if not disks:
            if "memory" in header:
                return ()  # a file system in memory has no device: nothing is known of it, which is not zero
            raise BadOutput(f"{output.host} shows no disk to the disk probe", "Name a device: `disk every 1 s on ...`.")
        missing = [name for name in disks if all(name not in _counts(reading) for reading in found)]
        if missing:
            raise BadOutput(f"/proc/diskstats of {output.host} does not have {', '.join(missing)}")
        samples = []
        for step in steps(probe, output, found, window):
            before, after = _counts(step.before), _counts(step.after)
            waited = pressure("io", step)
            if waited is not None:
                samples.append(Sample("disk.pressure", output.host, "", step.time, waited, ""))
            for disk in disks:
                if disk in before and disk in after:
                    for measure, value, unit in _rates(before[disk], after[disk], step.seconds):
                        samples.append(Sample(measure, output.host, disk, step.time, value, unit))
        return tuple(samples)


def _rates(before: tuple[int, ...], after: tuple[int, ...], seconds: float) -> list[tuple[str, float, str]]:
    """Nothing when a counter went backwards: it was reset or came to its end, and what happened is not known."""
    moved = [b - a for a, b in zip(before, after, strict=True)]
    reads, sectors_read, read_ms, writes, sectors_written, write_ms = (moved[i] for i in (0, 2, 3, 4, 6, 7))
    busy_ms, queued_ms = moved[9], moved[10]
    if min(reads, sectors_read, read_ms, writes, sectors_written, write_ms, busy_ms, queued_ms) < 0:
        return []
    # An interval without requests has no time that they took: nothing, which is not zero.
    return [
        ("disk.read", sectors_read * _SECTOR / seconds, "B/s"),
        ("disk.write", sectors_written * _SECTOR / seconds, "B/s"),
        ("disk.reads", reads / seconds, "1/s"),
        ("disk.writes", writes / seconds, "1/s"),
        # The kernel rounds to its clock's ticks, which may come to a little more than the interval.
        ("disk.utilisation", min(1.0, busy_ms / 1000 / seconds), ""),
        ("disk.queue", queued_ms / 1000 / seconds, "requests"),
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

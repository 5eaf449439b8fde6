"""The `network` probe: what the kernel counts of network interfaces, in /proc/net/dev.

See https://docs.kernel.org/networking/statistics.html. Its columns are, for what is received and then for what is sent:
bytes, packets, errors, drops, and four more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from benchbrief.compiler.plan import Probe
from benchbrief.runners.commands import quote
from benchbrief.runners.errors import BadOutput
from benchbrief.runners.measurement import Sample
from benchbrief.runners.probes import FileReads, Reading, is_count, reading_job, readings, steps
from benchbrief.runners.seams import Node
from benchbrief.runners.tasks import Job, JobOutput

# Interfaces with a device behind them: bridges, bonds and tunnels would count what goes through those a second time.
# In a container or a virtual network none has one; then it is all but the loopback.
_ALL = """\
real=; all=
for e in /sys/class/net/*; do
    [ -e "$e/statistics" ] || continue
    i=${e##*/}
    [ "$i" = lo ] && continue
    all="$all $i"
    [ -e "$e/device" ] && real="$real $i"
done
echo "interfaces${real:-$all}\""""
_ONE = """\
for i in @names@; do
    [ -e "/sys/class/net/$i" ] || { echo "no network interface $i"; exit 1; }
done
echo interfaces @names@"""
_COLUMNS = 16


class Network:
    """Bytes and packets per second, and those dropped or in error, by interface; see `seams.ProbeKind`.

    Without the option `interface`, all that are devices (where none is: all but the loopback); with it, that one, or
    those, with spaces between.
    """

    name: ClassVar[str] = "network"

    def reads(self, probe: Probe) -> FileReads:
        named = probe.options.get("interface", "").split()
        header = _ONE.replace("@names@", " ".join(map(quote, named))) if named else _ALL
        return FileReads({"/proc/net/dev": 'if (/:/) { sub(/:/, ": "); print }'}, header)

    def job(self, probe: Probe, node: Node) -> Job:
        return reading_job([(probe, self.reads(probe))])

    def parse(self, probe: Probe, output: JobOutput, window: tuple[float, float]) -> tuple[Sample, ...]:
        header, found = readings(output, self.name)
        names = [name for line in header if line.startswith("interfaces") for name in line.split()[1:]]
        if not names:
            hint = 'Name an interface: `network every 1 s on "lo"`.'
            raise BadOutput(f"{output.host} shows no network interface but the loopback", hint)
        samples = []
        for step in steps(probe, output, found, window):
            before, after = _counts(step.before), _counts(step.after)
            for name in names:
                if name in before and name in after:
                    for measure, value, unit in _rates(before[name], after[name], step.seconds):
                        samples.append(Sample(measure, output.host, name, step.time, value, unit))
        return tuple(samples)


def _rates(before: tuple[int, ...], after: tuple[int, ...], seconds: float) -> list[tuple[str, float, str]]:
    """Nothing when a counter went backwards: it came to its end, or the interface was made anew."""
    moved = [b - a for a, b in zip(before, after, strict=True)]
    if min(moved) < 0:
        return []
    return [
        ("network.received", moved[0] / seconds, "B/s"),
        ("network.sent", moved[8] / seconds, "B/s"),
        ("network.packets_received", moved[1] / seconds, "1/s"),
        ("network.packets_sent", moved[9] / seconds, "1/s"),
        ("network.errors", (moved[2] + moved[10]) / seconds, "1/s"),
        ("network.drops", (moved[3] + moved[11]) / seconds, "1/s"),
    ]


def _counts(reading: Reading) -> Mapping[str, tuple[int, ...]]:
    found = {}
    for line in reading.lines:
        words = line.split()
        if len(words) == _COLUMNS + 1 and words[0].endswith(":") and all(map(is_count, words[1:])):
            found[words[0][:-1]] = tuple(map(int, words[1:]))
    return found

"""The `network` probe: the kernel's counters of network interfaces, from /proc/net/dev.

See https://docs.kernel.org/networking/statistics.html. The columns are bytes, packets, errors, drops and four others,
first for receiving and then for sending.
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
from benchbrief.extend.probes import FileReads, Reading, is_count, parse_readings, reading_job, steps_in_window


class NetworkMessages(Protocol):
    def no_interface(self, *, host: object) -> Message: ...
    def hint_name_interface(self) -> Message: ...


say: NetworkMessages = speaker(NetworkMessages)


_ALL = read_script(__file__, "all_interfaces.sh")
_NAMED = read_script(__file__, "named_interfaces.sh")
_COLUMNS = 16


class Network:
    """Bytes and packets per second, and dropped or faulty packets, by interface; see `seams.ProbeKind`.

    Covers all real devices or, if there are none, all interfaces except the loopback. The option `interface` limits the
    probe to the interfaces that it names, separated by blanks.
    """

    name: ClassVar[str] = "network"

    def reads(self, probe: Probe) -> FileReads:
        named = probe.options.get("interface", "").split()
        header = with_values(_NAMED, names=" ".join(named)) if named else _ALL
        return FileReads({"/proc/net/dev": 'if (/:/) { sub(/:/, ": "); print }'}, header)

    def job(self, probe: Probe, node: Node) -> Job:
        return reading_job([(probe, self.reads(probe))])

    def parse(self, probe: Probe, output: JobOutput, window: tuple[float, float]) -> tuple[Sample, ...]:
        header, found = parse_readings(output, self.name)
        names = [name for line in header if line.startswith("interfaces") for name in line.split()[1:]]
        if not names:
            raise BadOutput(say.no_interface(host=output.host), say.hint_name_interface())
        samples = []
        for step in steps_in_window(probe, output, found, window):
            before, after = _counts(step.before), _counts(step.after)
            for name in names:
                if name in before and name in after:
                    for measure, value, unit in _rates(before[name], after[name], step.seconds):
                        samples.append(Sample(measure, output.host, name, step.time, value, unit, step.inside))
        return tuple(samples)


def _rates(before: tuple[int, ...], after: tuple[int, ...], seconds: float) -> list[tuple[str, float, str]]:
    """Return (measure, value, unit) for an interval. Returns nothing if a counter decreased, because it wrapped around
    or the interface is new."""
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

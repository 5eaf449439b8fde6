"""The `tcp` probe: the host's TCP connections and counters, from /proc/net/snmp and /proc/net/netstat.

See https://docs.kernel.org/networking/snmp_counter.html. Each file has pairs of lines: one with the names of the
columns, and one with their values. The columns differ between kernels, so awk finds them by name. `OutSegs` leaves out
segments that only repeat earlier ones; these are counted by `RetransSegs` (RFC 1213).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar, Protocol

from benchbrief.extend.common import BadOutput, Job, JobOutput, Message, Node, Probe, Sample, speaker
from benchbrief.extend.probes import (
    FileReads,
    Reading,
    parse_readings,
    reading_job,
    readings_in_window,
    steps_in_window,
)


class TcpMessages(Protocol):
    def no_tcp(self, *, host: object) -> Message: ...


say: TcpMessages = speaker(TcpMessages)


_COUNTERS = {
    "OutSegs": "tcp.segments",
    "RetransSegs": "tcp.retransmits",
    "ListenOverflows": "tcp.listen_overflows",
}
_GAUGE = "CurrEstab"


def _columns(table: str, *names: str) -> str:
    """Return an awk statement that prints the values of these columns of the table, each with its name."""
    return (
        f"if (/^{table}: [A-Z]/) for (i = 2; i <= NF; i++) tcp[i] = $i; else if (/^{table}: /) "
        f'for (i = 2; i <= NF; i++) if (tcp[i] ~ /^({"|".join(names)})$/) print "tcp", tcp[i], $i'
    )


_FILES = {
    "/proc/net/snmp": _columns("Tcp", _GAUGE, "OutSegs", "RetransSegs"),
    "/proc/net/netstat": _columns("TcpExt", "ListenOverflows"),
}


class Tcp:
    """Connections, segments, retransmissions and overflows of listen queues; see `seams.ProbeKind`."""

    name: ClassVar[str] = "tcp"

    def reads(self, probe: Probe) -> FileReads:
        return FileReads(_FILES)

    def job(self, probe: Probe, node: Node) -> Job:
        return reading_job([(probe, self.reads(probe))])

    def parse(self, probe: Probe, output: JobOutput, window: tuple[float, float]) -> tuple[Sample, ...]:
        _, found = parse_readings(output, self.name)
        samples = [
            Sample("tcp.connections", output.host, "", time, float(numbers[_GAUGE]), "")
            for time, reading in readings_in_window(probe, output, found, window)
            if _GAUGE in (numbers := _numbers(reading))
        ]
        for step in steps_in_window(probe, output, found, window):
            before, after = _numbers(step.before), _numbers(step.after)
            samples += [
                Sample(measure, output.host, "", step.time, rise / step.seconds, "1/s", step.inside)
                for counter, measure in _COUNTERS.items()
                if counter in before and (rise := after.get(counter, -1) - before[counter]) >= 0
            ]
        if not samples:
            raise BadOutput(say.no_tcp(host=output.host))
        return tuple(samples)


def _numbers(reading: Reading) -> Mapping[str, int]:
    found = (re.fullmatch(r"tcp (\w+) (\d{1,20})", line) for line in reading.lines)
    return {match[1]: int(match[2]) for match in found if match}

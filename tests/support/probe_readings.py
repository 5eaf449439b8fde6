"""Helpers for tests of probes: real readings of this machine, and readings as other machines print them."""

from __future__ import annotations

import re
import time
from pathlib import Path

from benchbrief.model.measurement import Sample
from benchbrief.model.plan import Origin, Probe
from benchbrief.runners.jobs.tasks import JobOutput
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


def ticking(start: int, end: int, step: int = 10) -> str:
    """Return readings one second apart. In each second, `step` reads happen."""
    return printed("disks a", *((float(t), diskstats("a", reads=t * step)) for t in range(start, end + 1)))

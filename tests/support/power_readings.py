"""Makes power meters of a node, and readings of the `power` probe."""

from __future__ import annotations

import time
from pathlib import Path

from benchbrief.model.extension_spec import Boundary
from benchbrief.model.measurement import Sample
from benchbrief.model.plan import PowerMeter, Probe, Reference
from benchbrief.runners.jobs.tasks import JobOutput
from benchbrief.runners.meters.power_probe import Power
from benchbrief.runners.seams import Node, Transport
from tests.support import cells
from tests.support.waiting import until

PROBE = Probe(name="power", every_s=0.2, hosts=("local",), origin=cells.ORIGIN)


def meter(
    kind: str, *addresses: str, boundary: Boundary = "node", **options: str | float | bool | Reference
) -> PowerMeter:
    return PowerMeter(
        kind=kind, boundary=boundary, on="node", addresses=addresses, options=options, origin=cells.ORIGIN
    )


def sampled(transport: Transport, node: Node, into: Path, readings: int = 6) -> tuple[tuple[Sample, ...], JobOutput]:
    """Return the samples of this many readings, all inside the window."""
    running = transport.start(Power().job(PROBE, node))
    started = time.time()
    until(lambda: running.tail(20_000).count("\n.") >= readings)
    ended = time.time()
    running.stop()
    output = running.collect(into)
    return Power().parse(PROBE, output, (started, ended)), output


def output(directory: Path, stdout: str, stderr: str = "") -> JobOutput:
    (directory / "stdout").write_text(stdout)
    (directory / "stderr").write_text(stderr)
    return JobOutput(directory, None, 0.0, 0.0, "node1")


def printed(header: str, *readings: tuple[float, str]) -> str:
    return f"{header}\n" + "".join(f"= {at:.9f}\n{text}\n.\n" for at, text in readings)

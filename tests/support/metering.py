"""Helpers for tests of power meters: nodes with meters, sampling, and the search for secrets."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from benchbrief.model.extension_spec import Boundary
from benchbrief.model.measurement import Sample
from benchbrief.model.plan import Hardware, Host, PowerMeter, Probe, Reference
from benchbrief.runners.jobs.tasks import JobOutput
from benchbrief.runners.meters.power_probe import Power
from benchbrief.runners.seams import Node, Transport
from tests.support import cells
from tests.support.waiting import until

PROBE = Probe(name="power", every_s=0.2, hosts=("local",), on="controller", origin=cells.ORIGIN)


def meter(
    kind: str,
    addresses: Sequence[str] = (),
    parts: Sequence[str] = (),
    shared: bool = False,
    boundary: Boundary = "node",
    on: Literal["controller", "node"] = "controller",
    **options: Any,
) -> PowerMeter:
    return PowerMeter(
        kind=kind,
        boundary=boundary,
        on=on,
        addresses=tuple(addresses),
        parts=tuple(parts),
        shared=shared,
        options=options,
        origin=cells.ORIGIN,
    )


def secret(name: str) -> Reference:
    return Reference(kind="secret", name=name)


def nodes(count: int, *power: PowerMeter) -> list[Node]:
    """Return this many hosts of one hardware group."""
    hosts = [Host(id=f"node-{n}", transport="local", name="127.0.0.1") for n in range(1, count + 1)]
    names = tuple(host.id for host in hosts)
    hardware = Hardware(
        key="rack",
        label="Rack",
        group="rack",
        group_label="Rack",
        hosts=names,
        nodes=count,
        facts={},
        power=power,
        origin=cells.ORIGIN,
    )
    return [Node(host, hardware) for host in hosts]


def sampled(
    transport: Transport, node: Node, into: Path, readings: int = 3, probe: Probe = PROBE
) -> tuple[tuple[Sample, ...], JobOutput]:
    """Return the samples of this many readings, all inside the window."""
    running = transport.start(Power().job(probe, node))
    started = time.time()
    until(lambda: running.tail(20_000).count("\n.") >= readings)
    ended = time.time()
    running.stop()
    output = running.collect(into)
    return Power().parse(probe, output, (started, ended)), output


def all_output(output: JobOutput) -> bytes:
    """Return everything that is kept of a job."""
    return b"".join(path.read_bytes() for path in output.directory.rglob("*") if path.is_file())


def arguments() -> bytes:
    """Return the arguments of every process of this machine."""
    found = b""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += path.read_bytes()
        except OSError:  # it has ended
            continue
    return found

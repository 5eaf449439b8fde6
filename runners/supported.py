"""What a plan may ask for that can't be done, yet or here: refused before the first cell, so that nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from benchbrief.compiler.plan import Cell, Plan
from benchbrief.runners.errors import HostError, RunnerError
from benchbrief.runners.hosts import CONTROLLER
from benchbrief.runners.probes.power import KINDS, try_meter
from benchbrief.runners.references import refuse_unset
from benchbrief.runners.seams import Hosts, Node

_AT_ONCE = 16
"""Meters that are tried side by side: each may take seconds to answer."""


def refuse_unsupported(plan: Plan) -> None:
    """Raises RunnerError for a plan that can't be run as it says: one of another version may have other meters."""
    refuse_unset(plan)
    for cell in plan.cells:
        sampled = any(probe.name == "power" for probe in cell.probes)
        for meter in plan.hardware[cell.hardware].power if sampled else ():
            if meter.kind not in KINDS:
                raise RunnerError(
                    f"power can't be read by `{meter.kind}` ({meter.origin})",
                    f"read it by {' or '.join(KINDS)}, or take `power` out of the probes of {cell.experiment}",
                )


Meter = tuple[str, str]
"""The meter of a host: the key of its hardware, and its id."""


def meters_of(cell: Cell) -> set[Meter]:
    """Those that the cell's probes read."""
    return {(cell.hardware, host_id) for probe in cell.probes if probe.name == "power" for host_id in probe.hosts}


def metered(plan: Plan, cells: Sequence[Cell] | None = None) -> dict[Meter, tuple[Node, str]]:
    """Every host whose power is sampled (in these cells), and the id of the host that its meter is read on."""
    found: dict[Meter, tuple[Node, str]] = {}
    for cell in plan.cells if cells is None else cells:
        hardware = plan.hardware[cell.hardware]
        for probe in cell.probes:
            if probe.name == "power":
                for host_id in probe.hosts:
                    at = CONTROLLER.id if probe.on == "controller" else host_id
                    found.setdefault((cell.hardware, host_id), (Node(plan.hosts[host_id], hardware), at))
    return found


def silent_meters(plan: Plan, cells: Sequence[Cell], hosts: Hosts) -> dict[Meter, RunnerError]:
    """Read every meter of these cells once; those that say nothing, with the reason. An absent host is none of them."""
    tried = zip(metered(plan, cells), try_meters(plan, hosts, cells), strict=True)
    return {
        meter: said for meter, (_, said) in tried if isinstance(said, RunnerError) and not isinstance(said, HostError)
    }


def try_meters(
    plan: Plan, hosts: Hosts, cells: Sequence[Cell] | None = None
) -> Iterator[tuple[Node, float | RunnerError | None]]:
    """Every host whose power is sampled, with its watts of now (see `try_meter`), or why there are none."""

    def tried(found: tuple[Node, str]) -> tuple[Node, float | RunnerError | None]:
        node, at = found
        try:
            return node, try_meter(node, hosts[at])
        except RunnerError as error:
            return node, error

    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="meter") as pool:
        yield from pool.map(tried, metered(plan, cells).values())

"""What a plan may ask for that can't be done, yet or here: refused before the first cell, so that nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from benchbrief.compiler.plan import Plan
from benchbrief.runners.hosts import CONTROLLER
from benchbrief.runners.probes.power import KINDS, try_meter
from benchbrief.runners.seams import HostError, Hosts, Node, RunnerError

_AT_ONCE = 16
"""Meters that are tried side by side: each may take seconds to answer."""


def refuse_unsupported(plan: Plan) -> None:
    """Raises RunnerError for a plan that can't be run as it says: one of another version may have other meters."""
    for cell in plan.cells:
        sampled = any(probe.name == "power" for probe in cell.probes)
        for meter in plan.hardware[cell.hardware].power if sampled else ():
            if meter.kind not in KINDS:
                raise RunnerError(
                    f"power can't be read by `{meter.kind}` ({meter.origin})",
                    f"read it by {' or '.join(KINDS)}, or take `power` out of the probes of {cell.experiment}",
                )


def metered(plan: Plan) -> tuple[tuple[Node, str], ...]:
    """Every host whose power is sampled, with the id of the host that its meter is read on."""
    found: dict[tuple[str, str], tuple[Node, str]] = {}
    for cell in plan.cells:
        hardware = plan.hardware[cell.hardware]
        for probe in cell.probes:
            if probe.name == "power":
                for host_id in probe.hosts:
                    at = CONTROLLER.id if probe.on == "controller" else host_id
                    found.setdefault((cell.hardware, host_id), (Node(plan.hosts[host_id], hardware), at))
    return tuple(found.values())


def require_power(plan: Plan, hosts: Hosts) -> None:
    """Read every meter once. Raises RunnerError for one that says nothing; an absent host fails its cells."""
    for _, tried in try_meters(plan, hosts):
        if isinstance(tried, RunnerError) and not isinstance(tried, HostError):
            raise tried


def try_meters(plan: Plan, hosts: Hosts) -> Iterator[tuple[Node, float | RunnerError | None]]:
    """Every host whose power is sampled, with its watts of now (see `try_meter`), or why there are none."""

    def tried(found: tuple[Node, str]) -> tuple[Node, float | RunnerError | None]:
        node, at = found
        try:
            return node, try_meter(node, hosts[at])
        except RunnerError as error:
            return node, error

    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="meter") as pool:
        yield from pool.map(tried, metered(plan))

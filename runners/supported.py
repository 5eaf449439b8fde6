"""What a plan may ask for that can't be done, yet or here: refused before the first cell, so that nothing is lost."""

from __future__ import annotations

from benchbrief.compiler.plan import Plan
from benchbrief.runners.hosts import CONTROLLER
from benchbrief.runners.probes.power import KINDS, try_meter
from benchbrief.runners.seams import HostError, Hosts, Node, RunnerError


def refuse_unsupported(plan: Plan) -> None:
    """Raises RunnerError for a plan that can't be run as it says."""
    for cell in plan.cells:
        meter = plan.hardware[cell.hardware].power
        for probe in cell.probes:
            if probe.name == "power" and meter is not None and meter.kind not in KINDS:
                raise RunnerError(
                    f"power can't be read by `{meter.kind}` yet ({meter.origin})",
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
    for node, at in metered(plan):
        try:
            try_meter(node, hosts[at])
        except HostError:
            continue

"""One machine under two names, refused before the first cell when its cells would be measured at the same time.

A claim (`claims.py`) lies where all names of a machine lead to, and records the name that wrote it last. A name
that finds another one in its own claim is the same machine. Hosts that keep their state in different places are
different.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchbrief.compiler.planning.plan import Cell, Plan
from benchbrief.runners.errors import OneMachine
from benchbrief.runners.hosts.fan_out import fan_out
from benchbrief.runners.scheduling.parallel_lanes import lanes
from benchbrief.runners.seams import Hosts


def refuse_aliases(plan: Plan, cells: Sequence[Cell], hosts: Hosts, held: Sequence[str]) -> None:
    """Raises OneMachine for two names of one machine whose cells may run in parallel. `held` are the claimed hosts."""
    lane_of = {host: number for number, lane in enumerate(lanes(cells)) for cell in lane for host in cell.locks}
    if len({lane_of[host] for host in held if host in lane_of}) < 2:
        return
    names = fan_out(held, lambda host_id: hosts[host_id].claimed_as())
    for host, name in names.items():
        if isinstance(name, str) and name != host and name in held and lane_of.get(host) != lane_of.get(name):
            first, second = sorted((host, name), key=list(plan.hosts).index)
            raise OneMachine(
                f"{first} ({_where(plan, first)}) and {second} ({_where(plan, second)}) are one machine under two "
                "names: their cells would be measured at the same time, and disturb each other",
                f"write {first} in both places",
            )


def _where(plan: Plan, host: str) -> str:
    users = [each.origin for each in plan.hardware.values() if host in each.hosts]
    users += [each.origin for each in plan.clients.values() if host in each.hosts]
    return str(users[0]) if users else "no line of the spec"

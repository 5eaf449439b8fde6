"""The lanes of a plan: parts that can be run separately, by processes that know nothing of each other.

Cells that share a host or equipment belong to one lane. So do cells that affect each other while they run: cells that
take turns at measuring, cells that take a number from a search, cells whose failure ends the run, and cells of a budget
that depends on expectations. A lane has a number, which depends only on the plan, and the names of its hardware groups.
Each group is in only one lane.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.budgets import is_budgeted
from benchbrief.model.plan import Cell, Database, Plan

ONE_BY_ONE = "experiment "
"""The prefix of a lock's name for cells that let nothing run during their measurements. The experiment's name follows
it."""


def join_groups(groups: Iterable[Sequence[str]]) -> dict[str, str]:
    """Return a name for each member of a group. Groups with common members are joined and get one name (union-find)."""
    above: dict[str, str] = {}

    def root(member: str) -> str:
        while above.setdefault(member, member) != member:
            above[member] = member = above[above[member]]
        return member

    for first, *others in dict.fromkeys(map(tuple, groups)):
        root(first)
        for other in others:
            above[root(other)] = root(first)
    return {member: root(member) for member in tuple(above)}


_STOPS = "stop "
_BUDGET = "budget "


@dataclass(frozen=True)
class PlanLane:
    """A part of a plan that one process can run by itself. `number` counts from 1, in the order of the plan's cells."""

    number: int
    cells: tuple[Cell, ...]

    @property
    def hardware(self) -> tuple[str, ...]:
        """Return the keys of the lane's hardware groups."""
        return tuple(dict.fromkeys(cell.hardware for cell in self.cells))

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(host for cell in self.cells for host in cell.locks))


def lanes_of(plan: Plan) -> tuple[PlanLane, ...]:
    names = join_groups((_own(cell), *_bonds(plan, cell)) for cell in plan.cells)
    found: dict[str, list[Cell]] = {}
    for cell in plan.cells:
        found.setdefault(names[_own(cell)], []).append(cell)
    return tuple(PlanLane(number, tuple(cells)) for number, cells in enumerate(found.values(), start=1))


def lane_named(lanes: Sequence[Sequence[str]], name: str) -> int | None:
    """Return the number of the lane that has this number or this hardware group, or None if there is no such lane.
    `lanes` has the hardware of each lane, in the order of the lanes' numbers."""
    numbers = (number for number, keys in enumerate(lanes, start=1) if name in (str(number), *keys))
    return next(numbers, None)


def only_lane(plan: Plan, lane: PlanLane) -> Plan:
    """Return the plan with only the cells of one lane."""
    return plan.model_copy(update={"cells": lane.cells})


def lane_part(plan: Plan, lane: PlanLane) -> Plan:
    """Return the plan with the cells of one lane, and with only the hosts, hardware and databases that these cells use.
    If a budget depends on expectations, all hardware is kept, since expectations may refer to any of it."""
    if plan.expects and any(is_budgeted(plan, each) for each in plan.experiments.values()):
        return only_lane(plan, lane)
    hardware = {key: plan.hardware[key] for key in lane.hardware}
    databases = {cell.database: plan.databases[cell.database] for cell in lane.cells}
    clients = {cell.client: plan.clients[cell.client] for cell in lane.cells if cell.client}
    hosts = [host for group in hardware.values() for host in group.hosts]
    hosts += [host for client in clients.values() for host in client.hosts]
    for cell in lane.cells:
        hosts += (*cell.locks, *cell.load_hosts)
        hosts += (host for probe in cell.probes for host in probe.hosts)
        hosts += (host for event in cell.events for host in event.hosts)
    used = {host: plan.hosts[host] for host in dict.fromkeys(hosts)}
    return plan.model_copy(
        update={"cells": lane.cells, "hosts": used, "hardware": hardware, "databases": databases, "clients": clients}
    )


def _own(cell: Cell) -> str:
    return f"hardware {cell.hardware}"


def _bonds(plan: Plan, cell: Cell) -> Iterator[str]:
    """Yield everything that may tie a cell to others. Cells that have one of these things in common belong to one
    lane."""
    experiment = plan.experiments[cell.experiment]
    yield from (f"holds {held}" for held in cell.holds)
    if cell.turn:
        yield f"turn {cell.turn}"
    for knee in (cell.threads_from, cell.target_from):
        if knee is not None:
            yield f"hardware {knee.hardware}"
    if any(each.on_failure == "stop" for each in plan.experiments.values()):
        yield _STOPS
    if plan.expects and is_budgeted(plan, experiment):
        yield _BUDGET


def open_hosts(plan: Plan) -> list[str]:
    """Return the placeholders for nodes that a scheduler will assign."""
    used = dict.fromkeys(host for cell in plan.cells for host in cell.locks)
    return [host for host in used if plan.hosts[host].is_open]


def with_nodes(plan: Plan, nodes: Mapping[str, str]) -> Plan:
    """Return the plan with nodes' names in place of hosts, also in the addresses of databases. Hosts without a node
    belong to other lanes and are dropped."""
    named = {
        key: host.model_copy(update={"name": nodes[key]}) if key in nodes else host for key, host in plan.hosts.items()
    }
    databases = {key: at_nodes(database, nodes) for key, database in plan.databases.items()}
    hosts = {key: host for key, host in named.items() if not host.is_open}
    return plan.model_copy(update={"hosts": hosts, "databases": databases})


def at_nodes(database: Database, nodes: Mapping[str, str]) -> Database:
    """Return a database whose address names these nodes in place of hosts."""
    if not nodes or not database.uri:
        return database
    names = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, nodes))})(?![\w.-])")
    uri = tuple(
        names.sub(lambda name: nodes[name[0]], part) if isinstance(part, str) else part for part in database.uri
    )
    return database.model_copy(update={"uri": uri})

"""Finds equipment besides hosts that hardware groups share, so that using one group would disturb a measurement on
another.

Two groups that share nothing may be worked on side by side. Hosts have locks of their own (`Cell.locks`). This module
finds the rest: a power meter that a probe reads, a declared network switch, declared storage, and the controller. While
one group is measured, the controller drives the cells of the other groups. That would disturb a measurement on the
controller itself, or one whose load the controller generates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from benchbrief.compiler.blocks.experiment_errors import NoOverlap
from benchbrief.compiler.blocks.experiments import Matrix
from benchbrief.compiler.blocks.hardware import HardwareUnit
from benchbrief.compiler.planning.plan_lanes import ONE_BY_ONE, join_groups
from benchbrief.compiler.problems import Findings
from benchbrief.compiler.registry import TRANSPORT_SPECS
from benchbrief.model.plan import Hardware, Host

_Hosts = tuple[str, ...]
"""All hosts that a group's cells use: the hosts under test and the hosts of their load generators."""
CONTROLLER = "the controller"


class SharedEquipment:
    """The equipment that an experiment's groups share with others, by its name in messages, such as `switch rack 4`."""

    def __init__(self, matrices: Sequence[Matrix], hosts: Mapping[str, Host]) -> None:
        self._hosts = hosts
        self._metered = {
            unit.hardware.key for matrix in matrices for unit in matrix.units if _reads_power(matrix, unit)
        }
        users: dict[str, set[_Hosts]] = {}
        every: set[_Hosts] = set()
        for matrix in matrices:
            for unit in matrix.units:
                used = hosts_of(matrix, unit)
                every.add(used)
                for name in self._of(matrix, unit):
                    users.setdefault(name, set()).add(used)
        self._shared = {name for name, groups in users.items() if len(groups) > 1}
        # The controller works for all groups, also for those that are elsewhere.
        self._controller_is_used = CONTROLLER in users and len(every) > 1

    def of(self, matrix: Matrix, unit: HardwareUnit) -> tuple[str, ...]:
        """Return the equipment that a group shares with other groups of the plan."""
        found = [name for name in self._of(matrix, unit) if name in self._shared and name != CONTROLLER]
        return tuple(dict.fromkeys((*found, *((CONTROLLER,) if self._controller_is_used else ()))))

    def held(self, matrix: Matrix, unit: HardwareUnit) -> tuple[str, ...]:
        """Return the equipment besides hosts that a group's cells hold. No two cells that hold the same equipment run
        at once."""
        experiment = matrix.experiment
        alone = experiment.overlap == "none" and len(experiment.hardware) > 1
        return (*self.of(matrix, unit), *((f"{ONE_BY_ONE}{experiment.name}",) if alone else ()))

    def _of(self, matrix: Matrix, unit: HardwareUnit) -> Iterable[str]:
        hardware = unit.hardware
        client = matrix.clients.get(hardware.key)
        for switch in dict.fromkeys((hardware.facts.get("switch"), client.switch if client else None)):
            if isinstance(switch, str) and switch:
                yield f"switch {switch}"
        storage = hardware.facts.get("shared_storage")
        if isinstance(storage, str) and storage:
            yield f"storage {storage}"
        if hardware.key in self._metered:
            yield from _meters(hardware)
        if any(self._is_here(host) for host in hosts_of(matrix, unit)):
            yield CONTROLLER

    def _is_here(self, host: str) -> bool:
        """Return whether a host is the controller or a part of the controller."""
        spec = TRANSPORT_SPECS.usable(self._hosts[host].transport)
        return spec is not None and spec.on_controller


def hosts_of(matrix: Matrix, unit: HardwareUnit) -> _Hosts:
    """Return the hosts that the group's cells use: the hosts under test, and all hosts that generate load."""
    client = matrix.clients.get(unit.hardware.key)
    return tuple(dict.fromkeys((*unit.hardware.hosts, *(client.hosts if client else ()))))


def _reads_power(matrix: Matrix, unit: HardwareUnit) -> bool:
    return any(probe.name == "power" for probe in matrix.probes[unit.hardware.key])


def _meters(hardware: Hardware) -> Iterable[str]:
    """Yield what the group's meters read, such as an outlet of a power strip. Meters that run on each host are left
    out, because they are not shared."""
    for meter in (each for each in hardware.power if each.on == "controller"):
        parts = meter.parts or ("",) * len(meter.addresses)
        for address, part in zip(meter.addresses, parts, strict=False):
            yield f"power meter {address}" + (f" ({part})" if part else "")


_CLIENT = "client "


class _Group:
    """An experiment's hardware group (or all of its variants), with the equipment held while the group is in use."""

    def __init__(self, experiment: str, name: str) -> None:
        self.experiment, self.name = experiment, name
        self.variants: dict[str, None] = {}
        self.under_test: set[str] = set()
        self.hosts: dict[str, None] = {}
        self.equipment: dict[str, None] = {}

    @property
    def holds(self) -> tuple[str, ...]:
        return (*(f"host {host}" for host in self.hosts), *self.equipment)


def warn_of_overlap(matrices: Sequence[Matrix], hosts: Mapping[str, Host], findings: Findings) -> None:
    """Report each requested `overlap` between groups that share something."""
    asked = {m.experiment.name: m for m in matrices if "overlap" in m.places and m.experiment.overlap != "none"}
    if not asked:
        return
    groups = _groups(matrices, hosts)
    lane_of = join_groups(group.holds for group in groups)
    for matrix in asked.values():
        lanes: dict[str, list[_Group]] = {}
        for group in groups:
            if group.experiment == matrix.experiment.name:
                lanes.setdefault(lane_of[group.holds[0]], []).append(group)
        first = next((lane for lane in lanes.values() if len(lane) > 1), None)
        place, overlap = matrix.places["overlap"], matrix.experiment.overlap
        if first is not None:
            names = tuple(group.name for group in first)
            shared = _shared(first[0], first[1], matrix)
            one_client = bool(shared) and all(each.startswith(_CLIENT) for each in shared)
            findings.add(NoOverlap(place, overlap, names, shared, one_client=one_client))
        elif len(lanes) == 1:
            ((only,),) = lanes.values()
            if len(only.variants) > 1:
                hosts_shared = tuple(f"host {host}" for host in only.hosts if host in only.under_test)
                findings.add(NoOverlap(place, overlap, tuple(only.variants), hosts_shared, variants=True))


def _groups(matrices: Sequence[Matrix], hosts: Mapping[str, Host]) -> list[_Group]:
    shared = SharedEquipment(matrices, hosts)
    found: dict[tuple[str, str], _Group] = {}
    for matrix in matrices:
        for unit in matrix.units:
            key = matrix.experiment.name, unit.hardware.group
            group = found.setdefault(key, _Group(*key))
            group.variants[unit.hardware.key] = None
            group.under_test |= set(unit.hardware.hosts)
            group.hosts |= dict.fromkeys(hosts_of(matrix, unit))
            group.equipment |= dict.fromkeys(shared.held(matrix, unit))
    return list(found.values())


def _shared(one: _Group, other: _Group, matrix: Matrix) -> tuple[str, ...]:
    """Return a phrase for each host and each piece of equipment that two groups share. The result is empty if the
    groups must take turns only because of other groups."""
    clients = {host for client in matrix.clients.values() for host in client.hosts} - one.under_test - other.under_test
    hosts = [f"{_CLIENT}{host}" if host in clients else f"host {host}" for host in one.hosts if host in other.hosts]
    return (*hosts, *(name for name in one.equipment if name in other.equipment and not name.startswith(ONE_BY_ONE)))

"""Warnings of an `overlap` that does not hold, because hardware groups share what a measurement would see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchbrief.compiler.blocks.experiments.experiments import Matrix
from benchbrief.compiler.blocks.experiments.schedule_errors import NoOverlap
from benchbrief.compiler.blocks.experiments.shared_equipment import ONE_BY_ONE, SharedEquipment, hosts_of
from benchbrief.compiler.planning.plan import Host
from benchbrief.compiler.problems import Findings

_CLIENT = "client "


class _Group:
    """A hardware group of an experiment, or all of its variants there, with what it holds while it is worked on."""

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
    """Report each `overlap` that is asked for between groups which share something."""
    asked = {m.experiment.name: m for m in matrices if "overlap" in m.places and m.experiment.overlap != "none"}
    if not asked:
        return
    groups = _groups(matrices, hosts)
    lane_of = _lanes(groups)
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


def _lanes(groups: Sequence[_Group]) -> dict[str, str]:
    """Return a name for what belongs together, by each thing that is held: groups with a common one have one name."""
    joined: dict[str, str] = {}

    def root(held: str) -> str:
        while joined.setdefault(held, held) != held:
            joined[held] = held = joined[joined[held]]
        return held

    for group in groups:
        for held in group.holds[1:]:
            joined[root(held)] = root(group.holds[0])
    return {held: root(held) for group in groups for held in group.holds}


def _shared(one: _Group, other: _Group, matrix: Matrix) -> tuple[str, ...]:
    """Return what two groups of one lane share, as a message says it; nothing when they are joined through others."""
    clients = {host for client in matrix.clients.values() for host in client.hosts} - one.under_test - other.under_test
    hosts = [f"{_CLIENT}{host}" if host in clients else f"host {host}" for host in one.hosts if host in other.hosts]
    return (*hosts, *(name for name in one.equipment if name in other.equipment and not name.startswith(ONE_BY_ONE)))

"""What an experiment may name, and which client loads which of its hardware."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from benchbrief.compiler.blocks.databases.databases import DatabaseSpec
from benchbrief.compiler.blocks.experiments import experiment_errors
from benchbrief.compiler.blocks.experiments.probes import DeclaredProbe
from benchbrief.compiler.blocks.hardware.hardware import HardwareUnit
from benchbrief.compiler.blocks.values.block_values import Values
from benchbrief.compiler.blocks.values.values import Reader
from benchbrief.compiler.blocks.workloads.workloads import Load
from benchbrief.compiler.planning import plan


@dataclass(frozen=True)
class NamedBlocks:
    """The declarations that an experiment may name. The value is None for one with a mistake."""

    hardware: Mapping[str, HardwareUnit]
    clients: Mapping[str, plan.Client | None]
    databases: Mapping[str, DatabaseSpec | None]
    workloads: Mapping[str, Load | None]
    probes: Mapping[str, DeclaredProbe | None]
    hosts: Mapping[str, plan.Host]
    language: str
    """The language of the built-in labels and descriptions."""

    @cached_property
    def by_alias(self) -> Mapping[str, HardwareUnit]:
        return {alias: unit for unit in self.hardware.values() for alias in unit.aliases}

    @cached_property
    def by_group(self) -> Mapping[str, list[HardwareUnit]]:
        groups: dict[str, list[HardwareUnit]] = {}
        for unit in self.hardware.values():
            groups.setdefault(unit.hardware.group, []).append(unit)
        return groups


def clients_by_hardware(
    clients: Sequence[plan.Client], groups: Sequence[tuple[str, ...]], values: Values, reader: Reader
) -> Mapping[str, plan.Client]:
    """Return the client of each hardware, by its key: one client for all, or one for each item of `hardware`, in order.
    Reports clients that are too few or too many, or that have different tools."""
    alike = {key: clients[0] for group in groups for key in group}
    if len(clients) == 1:
        return alike
    at = values.span("client")
    if len(clients) != len(groups):
        reader.report(experiment_errors.ClientsUnfit(at, len(clients), len(groups)))
        return alike
    if other := next((each for each in clients if each.tool != clients[0].tool), None):
        reader.report(experiment_errors.ClientsUnfit(at, len(clients), len(groups), (clients[0].name, other.name)))
    return {key: client for client, group in zip(clients, groups, strict=True) for key in group}


def largest_client(clients: Mapping[str, plan.Client]) -> plan.Client | None:
    """Return the client with the most hosts, for which the ramp must suffice; None without a client."""
    return max(clients.values(), key=lambda client: len(client.hosts), default=None)

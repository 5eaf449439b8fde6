"""Moves someone else's plan to our hosts, because the plan's own hosts are not available here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from benchbrief.compiler.blocks.host_patterns import parse_destination
from benchbrief.compiler.planning.plan_lanes import at_nodes
from benchbrief.model.fingerprint import digest
from benchbrief.model.node import Node
from benchbrief.model.plan import Cell, Host, Plan

_OF_HOSTS = ("hosts", "load_hosts", "locks")
"""The fields in a plan's parts that hold ids of hosts."""


def on_hosts(plan: Plan, names: Sequence[str]) -> Plan:
    """Return the plan with its hosts replaced by these names, in order. Raises ValueError, or HostPatternError for a
    name that is not a host.

    Power meters and their samples are left out, since they do not measure the new hosts. The plan's cells no longer
    match those of earlier and later runs.
    """
    if twice := [name for index, name in enumerate(names) if name in names[:index]]:
        raise ValueError(f"{twice[0]} is named twice, and each host of the plan is one of its own")
    if len(names) != len(plan.hosts):
        raise ValueError(f"the plan has {len(plan.hosts)} hosts, and {len(names)} are named")
    made = [_host(name) for name in names]
    ids = {old: new.id for old, new in zip(plan.hosts, made, strict=True)}
    hardware = {key: each.model_copy(update={"power": ()}) for key, each in plan.hardware.items()}
    moved: Plan = _moved(plan.model_copy(update={"hardware": hardware}), ids)
    cells = tuple(_unmetered(each, digest([each.hash, sorted(ids.values())])) for each in moved.cells)
    names_of = {old.name: new.name for old, new in zip(plan.hosts.values(), made, strict=True)}
    databases = {key: at_nodes(each, names_of) for key, each in moved.databases.items()}
    return moved.model_copy(update={"hosts": {each.id: each for each in made}, "cells": cells, "databases": databases})


def _unmetered(cell: Cell, digest_: str) -> Cell:
    """Return a cell with another hash and without power probes, which would fail for lack of a meter."""
    probes = tuple(each for each in cell.probes if each.name != "power")
    return cell.model_copy(update={"hash": digest_, "probes": probes})


def _host(name: str) -> Host:
    if name == "local":
        return Host(id="local", transport="local", name="127.0.0.1")
    there = parse_destination(name)
    return Host(id=name, transport="ssh", name=there.name, user=there.user, port=there.port)


def _moved(node: Any, ids: Mapping[str, str]) -> Any:
    """Return a part of a plan with the ids of its hosts replaced."""
    if isinstance(node, Node):
        found = {each.name: getattr(node, each.name) for each in fields(node)}
        changed = {name: _of_field(name, value, ids) for name, value in found.items()}
        changed = {name: value for name, value in changed.items() if value is not found[name]}
        return node.model_copy(update=changed) if changed else node
    if isinstance(node, dict):
        moved = {key: _moved(value, ids) for key, value in node.items()}
        return moved if any(moved[key] is not value for key, value in node.items()) else node
    if isinstance(node, tuple):
        items = tuple(_moved(value, ids) for value in node)
        return items if any(new is not old for new, old in zip(items, node, strict=True)) else node
    return node


def _of_field(name: str, value: Any, ids: Mapping[str, str]) -> Any:
    if name in _OF_HOSTS and isinstance(value, tuple):
        return tuple(ids.get(each, each) for each in value)
    return _moved(value, ids)

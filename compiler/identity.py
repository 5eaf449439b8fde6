"""What a cell is: all that can change its result by name, and the content hash of that.

Nothing that only names or tells is in it: labels, descriptions, declared facts, metrics, expectations, report prose.
Two cells with the same hash are the same measurement, whatever they are called. As the parts are named and can be had
from a stored plan, two plans can be compared part by part (`compiler/plan_diff.py`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from benchbrief.compiler.plan import (
    Cell,
    Database,
    Experiment,
    Hardware,
    Host,
    Knee,
    KneeSearch,
    Plan,
    PowerMeter,
    Probe,
    Reference,
    Tool,
    Workload,
)

Parts = dict[str, object]
"""Nested by name; a list is one value."""

Known = Parts | float | None
"""A number, or what one depends on that a search has yet to find."""


def identity(plan: Plan, cell: Cell) -> Parts:
    """The parts of a cell of a plan, which may be one that was stored long ago."""
    experiment = plan.experiments[cell.experiment]
    parts = shared_parts(
        plan.hosts,
        plan.hardware[cell.hardware],
        plan.databases[cell.database],
        cell.load_hosts,
        cell.tool,
        plan.workloads[cell.workload],
        cell.probes,
        experiment,
    )
    known = {"threads": cell.threads, "target": cell.target}
    knees = {"threads": cell.threads_from, "target": cell.target_from}
    found = {name: _searched(plan, knee) for name, knee in knees.items() if knee}
    return parts | known | found | {"repeat": cell.repeat}


def _searched(plan: Plan, knee: Knee) -> Parts:
    hashes = [
        cell.hash
        for cell in plan.cells
        if (cell.experiment, cell.hardware, cell.workload) == (knee.experiment, knee.hardware, knee.workload)
    ]
    return searched(plan.experiments[knee.experiment].search, hashes)


def searched(search: KneeSearch | None, hashes: Sequence[str]) -> Parts:
    """What a number depends on that a search has yet to find: the criterion, and the cells that it may try."""
    return {"search": search and search.model_dump(), "cells": list(hashes)}


def shared_parts(
    hosts: Mapping[str, Host],
    hardware: Hardware,
    database: Database,
    load_hosts: Sequence[str],
    tool: Tool,
    workload: Workload,
    probes: Sequence[Probe],
    experiment: Experiment,
) -> Parts:
    """What the cells of one hardware, workload and experiment have in common."""
    # A plan of before these were told by name has none where none is needed, and so the same hash.
    told: Parts = {"seed": experiment.seed} if experiment.order == "random" else {}
    if experiment.cool_down_s:  # each cell but the first comes after one, and may be another for it
        told["cool_down_s"] = experiment.cool_down_s
    return told | {
        "hosts": machines(hardware.hosts, hosts),
        "prepare": list(hardware.prepare),
        "database": database_parts(database),
        "load_hosts": machines(load_hosts, hosts),
        "tool": tool.model_dump(),
        "workload": workload.model_dump(include={"family", "benchmark", "properties", "phase"}),
        "probes": [_probe_parts(probe, hardware) for probe in probes],
        "warm_up_s": 0.0 if workload.phase == "load" else experiment.warm_up_s,
        "measure_s": experiment.measure_s,
        "phases": experiment.phases,
        "max_error_share": experiment.max_error_share,
        # What is measured by turns was measured so that drift falls on all sides: in another order it would not have.
        "order": experiment.order,
    }


def _probe_parts(probe: Probe, hardware: Hardware) -> Parts:
    """What a reading of power is depends on its meter; who logs in to it changes nothing."""
    parts = probe.model_dump(include={"name", "every_s", "options"})
    if probe.name != "power" or not hardware.power:
        return parts
    return {**parts, "meters": [_meter_parts(meter) for meter in hardware.power]}


def _meter_parts(meter: PowerMeter) -> Parts:
    options = {key: value for key, value in meter.options.items() if not isinstance(value, Reference)}
    return meter.model_dump(exclude={"options", "origin"}) | {"options": options}


def cell_hash(shared: str, threads: Known, target: Known, repeat: int) -> str:
    """`shared` is the digest of the shared parts."""
    return digest([shared, threads, target, repeat])


def machines(ids: Sequence[str], hosts: Mapping[str, Host]) -> list[tuple[str, str, int | None]]:
    """The hosts as machines: how to log in to one changes no result."""
    return [(hosts[id_].transport, hosts[id_].name, hosts[id_].port) for id_ in ids]


def database_parts(database: Database) -> Parts:
    parts = database.model_dump(
        include={"engine", "server", "uri", "path", "topology", "options", "options_file", "reset"}
    )
    # What is not said has no part in it, so that a plan of before it could be said has the same hash.
    said = database.model_dump(
        include={"members", "shards", "version", "max_lag_s", "drop_caches"}, exclude_defaults=True
    )
    parts |= {key: value for key, value in said.items() if value is not None}
    if database.start:
        # Who logs in changes nothing; a certificate's name neither.
        start = database.start
        parts["start"] = {
            **start.model_dump(include={"binary", "router", "port", "config_sha256"}),
            "tls": start.tls is not None,
            "auth": start.auth is not None,
        }
    if hooks := [hook.model_dump(include={"line", "on"}) for hook in database.hooks if hook.when != "teardown"]:
        parts["hooks"] = hooks
    return parts


def digest(content: object) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()

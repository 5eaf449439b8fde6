"""The identity of a cell: the named parts that can change its result, and a hash of their contents.

Names and prose do not count: labels, descriptions, declared facts, metrics, expectations, report texts. Two cells with
the same hash are the same measurement, whatever their names are. A stored plan contains the named parts, too, so that
two plans can be compared part by part (`compiler/planning/plan_diff.py`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from benchbrief.model.plan import (
    Cell,
    Database,
    Event,
    Experiment,
    Hardware,
    Hook,
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
from benchbrief.model.points import Curve

Parts = dict[str, object]
"""Named parts, which may be nested. A list counts as one value."""

Known = Parts | float | None
"""A number, or the parts that determine it if a search has not found it yet."""


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def identity(plan: Plan, cell: Cell) -> Parts:
    """Return the named parts of a cell that can change its result. `plan` may be a stored plan of an older version."""
    experiment = plan.experiments[cell.experiment]
    parts = shared_parts(
        plan.hosts,
        plan.hardware[cell.hardware],
        plan.databases[cell.database],
        cell.load_hosts,
        cell.tool,
        plan.workload_of(cell),
        cell.probes,
        experiment,
        cell.events,
    )
    known = {"threads": cell.threads, "target": cell.target}
    knees = {"threads": cell.threads_from, "target": cell.target_from}
    found = {name: _searched(plan, knee) for name, knee in knees.items() if knee}
    return parts | known | found | {"repeat": cell.repeat}


def _searched(plan: Plan, knee: Knee) -> Parts:
    curve = Curve.of(knee)
    hashes = [cell.hash for cell in plan.cells if Curve.of(cell) == curve]
    return searched(plan.experiments[knee.experiment].search, hashes)


def searched(search: KneeSearch | None, hashes: Sequence[str]) -> Parts:
    """Return the parts that determine the result of a search: the criterion, and the cells that the search may try."""
    # An absent value has no part, so that plans from before the attribute existed keep their hashes.
    return {"search": search and search.model_dump(exclude_none=True), "cells": list(hashes)}


def shared_parts(
    hosts: Mapping[str, Host],
    hardware: Hardware,
    database: Database,
    load_hosts: Sequence[str],
    tool: Tool,
    workload: Workload,
    probes: Sequence[Probe],
    experiment: Experiment,
    events: Sequence[Event] = (),
) -> Parts:
    """Return the parts that are the same for all cells of one hardware, workload and experiment."""
    # A plan without any of these has the hash of plans from before they existed.
    parts: Parts = {"seed": experiment.seed} if experiment.order == "random" else {}
    if experiment.cool_down_s:  # a cool-down before a cell may change its result
        parts["cool_down_s"] = experiment.cool_down_s
    if experiment.arrivals:
        parts["arrivals"] = experiment.arrivals.model_dump(exclude_defaults=True)
    if experiment.until_steady:
        parts["until_steady"] = experiment.until_steady.model_dump()
    if events:
        parts["events"] = event_parts(events)
    parts |= size_parts(database, workload)
    return parts | {
        "hosts": machines(hardware.hosts, hosts),
        "prepare": list(hardware.prepare),
        "database": database_parts(database),
        "load_hosts": machines(load_hosts, hosts),
        "tool": _tool_parts(tool),
        "workload": workload_parts(workload),
        "probes": [_probe_parts(probe, hardware) for probe in probes],
        "warm_up_s": 0.0 if workload.phase == "load" else experiment.warm_up_s,
        "measure_s": experiment.measure_s,
        "phases": experiment.phases,
        "max_error_share": experiment.max_error_share,
        # Turns spread drift over all sides, so the order is part of the measurement.
        "order": experiment.order,
    }


def event_parts(events: Sequence[Event]) -> list[dict[str, object]]:
    """Return the parts of events that can change a result. Leaves out labels, and settings that only affect how events
    are judged afterwards."""
    return [event.model_dump(include={"at_s", "line", "hosts", "timeout_s", "data"}) for event in events]


def workload_parts(workload: Workload) -> Parts:
    """Return the parts of a workload. As in older plans, a workload without files has no part for files."""
    parts = workload.model_dump(include={"family", "benchmark", "properties", "phase"})
    return {**parts, "files": workload.files} if workload.files else parts


def _tool_parts(tool: Tool) -> Parts:
    parts = tool.model_dump(exclude={"package"})
    return {**parts, "package": tool.package} if tool.package else parts


def _probe_parts(probe: Probe, hardware: Hardware) -> Parts:
    """Return what a probe adds to the fingerprint. A power probe adds its meters, but not their logins."""
    parts = probe.model_dump(include={"name", "every_s", "options"})
    if probe.package:  # another version may sample differently
        parts["package"] = probe.package
    if probe.name != "power" or not hardware.power:
        return parts
    return {**parts, "meters": [_meter_parts(meter) for meter in hardware.power]}


def _meter_parts(meter: PowerMeter) -> Parts:
    options = {key: value for key, value in meter.options.items() if not isinstance(value, Reference)}
    parts = meter.model_dump(exclude={"options", "origin", "package"}) | {"options": options}
    return {**parts, "package": meter.package} if meter.package else parts


def cell_hash(shared: str, threads: Known, target: Known, repeat: int) -> str:
    """Return the hash of a cell. `shared` is the digest of the parts that it shares with other cells."""
    return digest([shared, threads, target, repeat])


def machines(ids: Sequence[str], hosts: Mapping[str, Host]) -> list[tuple[str | int | None, ...]]:
    """Return the identities of the hosts as machines. They include neither the login nor the node that a scheduler
    assigns."""
    return [_asked(host) or _machine(host) for host in (hosts[id_] for id_ in ids)]


def _machine(host: Host) -> tuple[str | int | None, ...]:
    return (host.transport, host.name, host.port, *([host.package] if host.package else []))


def _asked(host: Host) -> tuple[str | int | None, ...]:
    if host.asked is None:
        return ()
    words = (text for pair in sorted(host.asked.options) for text in pair)
    return (host.asked.scheduler, host.asked.what, *words)


def size_parts(database: Database, workload: Workload) -> Parts:
    """Return the database's size, or {} if the workload's number of records already determines it."""
    return {} if "records" in workload.properties else {"size_bytes": database.size_bytes}


def database_parts(database: Database) -> Parts:
    parts = database.model_dump(
        include={"engine", "server", "uri", "path", "topology", "options", "options_file", "reset"}
    )
    # An absent value has no part, so that plans from before the attribute existed keep their hashes.
    said = database.model_dump(
        include={"members", "shards", "version", "max_lag_s", "drop_caches", "settings", "package", "reset_package"},
        exclude_defaults=True,
    )
    parts |= {key: value for key, value in said.items() if value is not None}
    if database.start:
        # Neither the login nor a certificate's name changes a result.
        start = database.start
        parts["start"] = {
            **start.model_dump(include={"binary", "router", "port", "config_sha256"}),
            "tls": start.tls is not None,
            "auth": start.auth is not None,
        }
    if hooks := [_hook_parts(hook) for hook in database.hooks if hook.when != "teardown"]:
        parts["hooks"] = hooks
    return parts


def _hook_parts(hook: Hook) -> Parts:
    parts = hook.model_dump(include={"line", "on"})
    return {**parts, "env": hook.env} if hook.env else parts


def digest(content: object) -> str:
    return hashlib.sha256(_ENCODER.encode(content).encode()).hexdigest()


def place_of(hardware: Hardware, database: Database, hosts: Mapping[str, Host]) -> str:
    """Return a digest of the place of a database's data. Equal digests mean the same place."""
    place = database.model_dump(include={"engine", "server", "uri", "path"})
    given = [id_ for id_ in hardware.hosts if hosts[id_].asked]  # another host with the same request is another node
    return digest([machines(hardware.hosts, hosts), *place.values(), *given])

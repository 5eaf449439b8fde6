"""Hosts that a scheduler is asked for, and the nodes that it gives for them when a lane begins.

A plan never changes, and neither do its cells' hashes: a lane runs a copy of it that has the names of its nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from benchbrief.compiler.planning.plan import Cell, Database, Plan


def open_hosts(plan: Plan, cells: Iterable[Cell] | None = None) -> list[str]:
    """Return the hosts of these cells, or of all, that stand for nodes that no scheduler has given yet."""
    used = dict.fromkeys(host for cell in (plan.cells if cells is None else cells) for host in cell.locks)
    return [host for host in used if plan.hosts[host].is_open]


def with_nodes(plan: Plan, nodes: Mapping[str, str]) -> Plan:
    """Return the plan with the names of nodes, by host, and without hosts that are still open: other lanes have them.

    The addresses of databases that name these hosts get the names, too.
    """
    named = {
        key: host.model_copy(update={"name": nodes[key]}) if key in nodes else host for key, host in plan.hosts.items()
    }
    databases = {key: _at_nodes(database, nodes) for key, database in plan.databases.items()}
    hosts = {key: host for key, host in named.items() if not host.is_open}
    return plan.model_copy(update={"hosts": hosts, "databases": databases})


def _at_nodes(database: Database, nodes: Mapping[str, str]) -> Database:
    if not nodes or not database.uri:
        return database
    names = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, nodes))})(?![\w.-])")
    uri = tuple(
        names.sub(lambda name: nodes[name[0]], part) if isinstance(part, str) else part for part in database.uri
    )
    return database.model_copy(update={"uri": uri})

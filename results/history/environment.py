"""The environment of a value: the facts of its hosts, and the versions of its tools and servers.

Values of two environments are never compared silently. Left out is what changes from hour to hour, where files lie,
and what is declared, except the number of nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from benchbrief.results.compare.contender_differences import is_passing

if TYPE_CHECKING:
    from benchbrief.compiler.planning.plan import Cell
    from benchbrief.results.store.store import Store

Facts = dict[str, str]
_KINDS = ("host", "database", "tool", "source")
_FOLDER = re.compile(r"^/(?:.*/)?(?=[^/]+ \(SHA-256 )")
"""The folder of a file whose content counts: `/etc/` of `/etc/rocks.ini (SHA-256 ...)`."""


class Environments:
    """The environments in a run, by the cells that a value comes from."""

    def __init__(self, store: Store) -> None:
        rows = store.sql("SELECT kind, hardware, node, name, value FROM facts ORDER BY ALL").rows
        self._rows = [row for row in rows if _counts(row[0], row[3])]
        self._found: dict[tuple[frozenset[str | None], ...], Facts] = {}

    def of(self, cells: Sequence[Cell]) -> Facts:
        """Return the facts behind the cells: each with its values on all nodes, in order."""
        hardware: frozenset[str | None] = frozenset(cell.hardware for cell in cells)
        databases: frozenset[str | None] = frozenset(cell.database for cell in cells)
        loaders: frozenset[str | None] = frozenset(host for cell in cells for host in cell.load_hosts)
        drivers: frozenset[str | None] = frozenset(cell.tool.driver for cell in cells)
        key = hardware, databases, loaders, drivers
        if key not in self._found:
            self._found[key] = self._facts(hardware, databases, loaders, drivers)
        return self._found[key]

    def _facts(
        self,
        hardware: frozenset[str | None],
        databases: frozenset[str | None],
        loaders: frozenset[str | None],
        drivers: frozenset[str | None],
    ) -> Facts:
        found: dict[str, dict[str, None]] = {}
        for kind, group, node, name, value in self._rows:
            of = f" of {group}" if len(hardware) > 1 and group in hardware else ""
            if kind == "tool":
                if node not in loaders or name.partition(".")[0] not in drivers:
                    continue
                what = f"tool {name}"
            elif kind == "database":
                if node not in databases:
                    continue
                what = f"database {name}{of}"
            elif group in hardware:
                what = f"{name}{of}"
            elif group is None and (kind == "source" or node in loaders):
                what = f"{'source' if kind == 'source' else 'load generator'} {name}"
            else:
                continue
            found.setdefault(what, {}).setdefault(_FOLDER.sub("", str(value)))
        return {what: ", ".join(sorted(values)) for what, values in sorted(found.items())}


def _counts(kind: str, name: str) -> bool:
    if kind == "hardware":
        return name == "nodes"
    return kind in _KINDS and not is_passing(name) and name != "path"


def without_facts(facts: Facts, patterns: Sequence[str]) -> Facts:
    """Return the facts whose names fit none of the patterns (`database version`, `tool db_bench.*`)."""
    return {name: value for name, value in facts.items() if not any(fnmatchcase(name, each) for each in patterns)}


def changed_facts(before: Facts, after: Facts) -> Iterable[tuple[str, str, str]]:
    """Yield each fact that differs, with both values; "" where there is none."""
    for name in dict.fromkeys((*before, *after)):
        if before.get(name) != after.get(name):
            yield name, before.get(name, ""), after.get(name, "")

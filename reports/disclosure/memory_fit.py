"""Compares data with the memory of their hosts: reads from the page cache do not reach the storage."""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchbrief.compiler.planning import plan as p
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.view_model import Item
from benchbrief.reports.text.number_format import bytes_text

_UNITS = {"B": 0, "KiB": 1, "MiB": 2, "GiB": 3, "TiB": 4, "PiB": 5}
_SIZE = re.compile(rf"([\d,]+(?:\.\d+)?)\s+({'|'.join(_UNITS)})")
_IN_MEMORY = {"tmpfs", "ramfs"}
_MEMORY = ("memory", "memory_limit")
"""The host's memory, and the limit of the tool's control group; the page cache counts as used."""


def disclose_memory_fit(results: Results) -> Iterator[Item]:
    """Return both measured sizes for each hardware whose databases fit in the memory of its smallest host.

    Databases that bypass the page cache, or lie in memory anyway, are left out.
    """
    rows = results.store.sql(
        "SELECT hardware, database, max(value) FROM sizes JOIN cells USING (run_id, cell_id) "
        "WHERE status = 'ok' AND measure = 'database.size' AND value IS NOT NULL GROUP BY ALL"
    ).rows
    sizes: dict[str, float] = {}
    for hardware_key, database, size in rows:
        on = p.DatabaseKey(database)
        if not _goes_around_cache(results.plan, on) and not _is_in_memory(results, on):
            sizes[str(hardware_key)] = max(float(size), sizes.get(str(hardware_key), 0.0))
    for key, hardware in results.plan.hardware.items():
        memory = _smallest_memory(hardware, results)
        if key in sizes and memory is not None and sizes[key] <= memory:
            size, most = (bytes_text(amount, exact=False) for amount in (sizes[key], memory))
            text = results.words["d_fits_in_memory"].format(hardware=hardware.label, size=size, memory=most)
            yield Item("", text, emphasis=True)


def _goes_around_cache(plan: p.Plan, database: p.DatabaseKey) -> bool:
    found = plan.databases.get(database)
    return found is not None and found.options.get("direct_io") is True


def _is_in_memory(results: Results, database: p.DatabaseKey) -> bool:
    """Return whether the data lie on a file system in memory, as the hosts say: it has no other storage."""
    found = results.plan.databases.get(database)
    names = (f"filesystem of {found.path}", "filesystem") if found is not None else ()
    kinds = {fact.value for fact in results.observed if fact.kind == "host" and fact.name in names}
    return bool(kinds) and kinds <= _IN_MEMORY


def _smallest_memory(hardware: p.Hardware, results: Results) -> float | None:
    """Return the bytes; None where some host's are unknown."""
    of_hosts: dict[str, float] = {}
    for fact in results.observed:
        if fact.kind == "host" and fact.name in _MEMORY and fact.node in hardware.hosts:
            if (match := _SIZE.fullmatch(fact.value.strip())) is None:
                return None
            found = float(match[1].replace(",", "")) * 1024 ** _UNITS[match[2]]
            of_hosts[fact.node] = min(found, of_hosts.get(fact.node, found))
    return min(of_hosts.values()) if of_hosts.keys() == set(hardware.hosts) else None

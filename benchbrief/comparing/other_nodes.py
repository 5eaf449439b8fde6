"""That two runs were measured on other nodes of a scheduler, under the same names of hosts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchbrief.results.compare.compared_quantities import Contender

_NODES = """
SELECT DISTINCT c.hardware, p.source, p.value FROM properties p JOIN cells c USING (run_id, cell_id)
WHERE p.name = 'node' ORDER BY ALL
"""
_NAMED = 5


def told_nodes(first: Contender, second: Contender) -> Iterator[str]:
    """Which hosts were other nodes in A than in B, so that a change may be that of the machine."""
    a, b = _nodes(first), _nodes(second)
    other = [host for host in a if host in b and a[host] != b[host]]
    if other:
        some = "; ".join(f"{host} was {a[host]} in A, and {b[host]} in B" for host in other[:_NAMED])
        more = f"; and {len(other) - _NAMED} more" if len(other) > _NAMED else ""
        yield f"a scheduler gave other nodes: {some}{more}: a change may be that of the machine"


def _nodes(side: Contender) -> dict[str, str]:
    """Return the nodes of each host, `n1` or `n1 and n2`."""
    found: dict[str, list[str]] = {}
    for hardware, host, node in side.store.sql(_NODES).rows:
        if side.hardware in (None, hardware) and node not in found.setdefault(str(host), []):
            found[str(host)].append(str(node))
    return {host: " and ".join(nodes) for host, nodes in found.items()}

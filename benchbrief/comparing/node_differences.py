"""That two runs were measured on other nodes of a scheduler, under the same names of hosts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from benchbrief.comparing.compare_messages import say

if TYPE_CHECKING:
    from benchbrief.results.compare.contender import Contender

_NODES = """
SELECT DISTINCT c.hardware, p.source, p.value FROM properties p JOIN cells c USING (run_id, cell_id)
WHERE p.name = 'node' ORDER BY ALL
"""
_NAMED = 5


def warn_of_other_nodes(first: Contender, second: Contender) -> Iterator[str]:
    """Which hosts were other nodes in A than in B, so that a change may be that of the machine."""
    a, b = _nodes(first), _nodes(second)
    other = [host for host in a if host in b and a[host] != b[host]]
    if other:
        said: str = say.node_of(host=other[0], one=a[other[0]], other=b[other[0]])
        for host in other[1:_NAMED]:
            said = say.two_reasons(one=said, other=say.node_of(host=host, one=a[host], other=b[host]))
        more = len(other) - _NAMED
        yield say.other_nodes(said=say.more_nodes(said=said, n=more) if more > 0 else said)


def _nodes(side: Contender) -> dict[str, str]:
    """Return the nodes of each host, `n1` or `n1 and n2`."""
    found: dict[str, list[str]] = {}
    for hardware, host, node in side.store.sql(_NODES).rows:
        if side.hardware in (None, hardware) and node not in found.setdefault(str(host), []):
            found[str(host)].append(str(node))
    return {host: " and ".join(nodes) for host, nodes in found.items()}

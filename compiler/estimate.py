"""How long a plan takes: cells that share a host one after another, the others side by side."""

from __future__ import annotations

from collections.abc import Iterable

from benchbrief.compiler.plan import Cell


def estimate(cells: Iterable[Cell]) -> float:
    """Wall time in seconds, from the steps' declared and estimated lengths."""
    group: dict[str, str] = {}

    def root(host: str) -> str:
        while group.setdefault(host, host) != host:
            group[host] = host = group[group[host]]
        return host

    busy: dict[str, float] = {}
    for cell in cells:
        first = root(cell.locks[0])
        for host in cell.locks[1:]:
            other = root(host)
            if other != first:
                group[other] = first
                busy[first] = busy.get(first, 0.0) + busy.pop(other, 0.0)
        busy[first] = busy.get(first, 0.0) + seconds(cell)
    return max(busy.values(), default=0.0)


def seconds(cell: Cell) -> float:
    return sum(step.seconds for step in cell.steps)

"""How long a plan takes: cells that share a host one after another, the others side by side.

Searches are counted in full, so that a plan with one takes as long at most.
"""

from __future__ import annotations

from collections.abc import Iterable

from benchbrief.compiler.plan import Cell, Knee


def estimate(cells: Iterable[Cell]) -> float:
    """Wall time in seconds, from the steps' declared and estimated lengths, of cells in the order of their plan."""
    cells = list(cells)
    group: dict[str, str] = {}

    def root(host: str) -> str:
        while group.setdefault(host, host) != host:
            group[host] = host = group[group[host]]
        return host

    for cell in cells:
        for host in cell.locks[1:]:
            group[root(host)] = root(cell.locks[0])
    free: dict[str, float] = {}
    """When each group of hosts has done its cells so far."""
    over: dict[Knee, float] = {}
    """When the cells of each experiment, hardware and workload so far are over, which others may wait for."""
    for cell in cells:
        lane = root(cell.locks[0])
        awaited = (over.get(knee, 0.0) for knee in (cell.threads_from, cell.target_from) if knee)
        free[lane] = max(free.get(lane, 0.0), *awaited, 0.0) + seconds(cell)
        over[Knee(experiment=cell.experiment, hardware=cell.hardware, workload=cell.workload)] = free[lane]
    return max(free.values(), default=0.0)


def seconds(cell: Cell) -> float:
    return sum(step.seconds for step in cell.steps)

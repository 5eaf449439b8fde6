"""How long a plan takes: cells that share a host one after another, the others side by side.

Searches, and repeats that may end early, are counted in full, so that a plan with them takes as long at most. After
the last cell of its hosts nothing has to cool down.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from benchbrief.compiler.plan import Cell


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
    ends: dict[str, float] = {}
    """The same, without the cool-down of the last."""
    over: dict[tuple[str, str, str], float] = {}
    """When the cells of each experiment, hardware and workload so far are over, which others may wait for."""
    for cell in cells:
        lane = root(cell.locks[0])
        knees = [knee for knee in (cell.threads_from, cell.target_from) if knee]
        awaited = (over.get((knee.experiment, knee.hardware, knee.workload), 0.0) for knee in knees)
        begin = max(free.get(lane, 0.0), *awaited, 0.0)
        ends[lane] = over[cell.experiment, cell.hardware, cell.workload] = begin + seconds(cell)
        free[lane] = ends[lane] + cool_down(cell)
    return max(ends.values(), default=0.0)


def estimate_some(cells: Iterable[Cell], chosen: Collection[str]) -> float:
    """Wall time in seconds of the cells of a plan with these ids.

    The first of them that needs a data set is taken to load it, though another cell of the plan may be said to.
    """
    owed: dict[str, float] = {}
    """What the loads of each data set take that cells were to make which are not among these."""
    picked: list[Cell] = []
    for cell in cells:
        mine = cell.id in chosen
        load = 0.0
        if cell.dataset:
            load = max(_load_s(cell), owed.get(cell.dataset.hash, 0.0))
            owed[cell.dataset.hash] = 0.0 if mine else load
        if mine:
            picked.append(_with_load(cell, load))
    return estimate(picked)


def _load_s(cell: Cell) -> float:
    return sum(step.seconds for step in cell.steps if step.kind == "load")


def _with_load(cell: Cell, load_s: float) -> Cell:
    if _load_s(cell) == load_s:
        return cell
    steps = (s.model_copy(update={"seconds": load_s}) if s.kind == "load" else s for s in cell.steps)
    return cell.model_copy(update={"steps": tuple(steps)})


def seconds(cell: Cell) -> float:
    """Of the cell itself, without the cool-down after it."""
    return sum(step.seconds for step in cell.steps if step.kind != "cool_down")


def cool_down(cell: Cell) -> float:
    return sum(step.seconds for step in cell.steps if step.kind == "cool_down")

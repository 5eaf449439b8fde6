"""Which cells share hosts, and so must run one after another."""

from __future__ import annotations

from collections.abc import Sequence

from benchbrief.compiler.planning.plan import Cell


def lanes(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Group cells that share hosts, directly or through others. Each group keeps the plan's order."""
    lane_of: dict[str, list[Cell]] = {}
    order = {cell.id: index for index, cell in enumerate(cells)}
    for cell in cells:
        joined = {id(lane): lane for host in cell.locks if (lane := lane_of.get(host)) is not None}
        merged = (
            sorted((c for lane in joined.values() for c in lane), key=lambda c: order[c.id])
            if len(joined) > 1
            else next(iter(joined.values()), [])
        )
        merged.append(cell)
        hosts = {host for c in merged for host in c.locks} if len(joined) > 1 else set(cell.locks)
        for host in hosts:
            lane_of[host] = merged
    return list({id(lane): lane for lane in lane_of.values()}.values())

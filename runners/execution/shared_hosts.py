"""Which cells share hosts or other equipment, and so must run one after another."""

from __future__ import annotations

from collections.abc import Sequence

from benchbrief.compiler.planning.plan import Cell


def lanes(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Group cells that share hosts or equipment, directly or through others. Each group keeps the plan's order."""
    lane_of: dict[str, list[Cell]] = {}
    order = {cell.id: index for index, cell in enumerate(cells)}
    for cell in cells:
        joined = {id(lane): lane for held in cell.holds if (lane := lane_of.get(held)) is not None}
        merged = (
            sorted((c for lane in joined.values() for c in lane), key=lambda c: order[c.id])
            if len(joined) > 1
            else next(iter(joined.values()), [])
        )
        merged.append(cell)
        everything = {held for c in merged for held in c.holds} if len(joined) > 1 else set(cell.holds)
        for held in everything:
            lane_of[held] = merged
    return list({id(lane): lane for lane in lane_of.values()}.values())

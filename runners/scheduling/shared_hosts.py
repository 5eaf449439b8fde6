"""Which cells share hosts or other equipment, and so must run one after another."""

from __future__ import annotations

from collections.abc import Container, Sequence

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


def lanes_left(cells: Sequence[Cell], done: Container[str]) -> list[list[Cell]]:
    """Return the lanes of a run without the cells in `done`, by their ids, and without lanes that have no cell left.

    Two groups may share a lane only by a third one. Once the third is done they still share one: what chooses points
    and repeats goes by the lanes of the whole plan, and each cell would run once in each lane otherwise.
    """
    left = ([cell for cell in lane if cell.id not in done] for lane in lanes(cells))
    return [lane for lane in left if lane]

"""Lanes: cells that share hosts or other equipment, and so run one after another. Lanes run in parallel."""

from __future__ import annotations

import threading
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager, nullcontext

from benchbrief.model.plan import Cell


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


_MOST_THREADS = 32
"""Lanes that have begun: those at work, and those that wait for others."""


class LaneWorkers:
    """Lets `at_once` lanes work at the same time; None for all of them. One that waits for another makes room.

    A number is for lanes that only compute: threads of one Python process take turns at computing, and many cost each
    other more than they gain.
    """

    def __init__(self, at_once: int | None) -> None:
        self._places = nullcontext() if at_once is None else threading.Semaphore(at_once)

    def threads(self, lanes: int) -> int:
        """Return how many threads so many lanes need."""
        return lanes if isinstance(self._places, nullcontext) else min(lanes, _MOST_THREADS)

    @contextmanager
    def working(self) -> Iterator[None]:
        with self._places:
            yield

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let another lane work, which this one waits for while the block runs."""
        if isinstance(self._places, nullcontext):
            yield
            return
        self._places.release()
        try:
            yield
        finally:
            self._places.acquire()

"""Parallel work: lanes, and their turns at measuring.

Cells that share hosts or other equipment form a lane, and run one after another. Lanes run in parallel. With `overlap =
loading`, only one hardware group is measured at a time, while others load. A cell waits for its turn once its data set
is ready, and keeps the turn until its measurement has ended. The cell that has waited longest gets the next turn.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

from benchbrief.model.plan import Cell
from benchbrief.model.run_record import Left
from benchbrief.runners.errors import Interrupted


def lanes(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Group cells that share hosts or equipment, directly or through other cells. Each group keeps the plan's order."""
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
    """Return the lanes of a run that still have cells to do, without the cells whose ids are in `done`.

    Two groups that share a lane only because of a third group still share it once the third group is done. If each of
    them got its own lane, every cell would run twice, because a lane of the whole plan chooses the points and repeats
    of both groups.
    """
    left = ([cell for cell in lane if cell.id not in done] for lane in lanes(cells))
    return [lane for lane in left if lane]


_MOST_THREADS = 32
"""The most lanes that may be under way at the same time, including those that wait for others."""


class LaneWorkers:
    """Lets at most `at_once` lanes work at the same time, or all of them if it is None. While a lane waits for another
    lane, it does not count.

    A limit makes sense for lanes that only compute, as threads of one Python process take turns at computing, and many
    threads cost each other more than they gain.
    """

    def __init__(self, at_once: int | None) -> None:
        self._places = nullcontext() if at_once is None else threading.Semaphore(at_once)

    def threads(self, lanes: int) -> int:
        """Return how many threads to start for this number of lanes. With a limit on working lanes, the threads are
        limited, too."""
        return lanes if isinstance(self._places, nullcontext) else min(lanes, _MOST_THREADS)

    @contextmanager
    def working(self) -> Iterator[None]:
        with self._places:
            yield

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let another lane work during the block, while this lane waits."""
        if isinstance(self._places, nullcontext):
            yield
            return
        self._places.release()
        try:
            yield
        finally:
            self._places.acquire()


_LOOK_EVERY_S = 0.5
"""How often a waiting cell checks whether the run must stop, in seconds."""


class MeasuringTurns:
    """The measuring turns of a run, shared by its lanes. `left` has the attempts to resume. An attempt that was being
    measured keeps its turn.

    The context manager `making_room` is entered while a cell waits for another one.
    """

    def __init__(
        self,
        cells: Iterable[Cell],
        left: Mapping[str, Left],
        making_room: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._making_room = making_room
        self._changed = threading.Condition()
        self._measured: dict[str, str] = {}
        """The id of the cell that has the turn, by the turn's name."""
        self._waiting: dict[str, list[str]] = {}
        """The ids of the waiting cells by the turn's name. The cell that gets the turn next comes first."""
        self._loading: dict[str, Cell] = {}
        self._beside: dict[str, dict[str, None]] = {}
        """The hardware that has loaded data during a cell's turn, by the cell's id."""
        for cell in cells:
            if cell.turn and cell.id in left and left[cell.id].current in ("warm_up", "measure"):
                self._measured.setdefault(cell.turn, cell.id)

    @contextmanager
    def taken(
        self, cell: Cell, stopping: threading.Event, waiting: Callable[[], AbstractContextManager[None]]
    ) -> Iterator[None]:
        """Hold the cell's turn during the block. Enters `waiting` while the cell has to wait.

        Raises Interrupted if the run must stop before the turn comes. Does nothing for a cell that takes no turns.
        """
        if not cell.turn:
            yield
            return
        with self._changed:
            queue = self._waiting.setdefault(cell.turn, [])
            queue.append(cell.id)
            at_once = self._is_next(cell)
        try:
            if at_once:
                self._wait(cell, stopping)
            else:
                with waiting(), self._making_room():
                    self._wait(cell, stopping)
        finally:
            with self._changed:
                queue.remove(cell.id)
                self._changed.notify_all()
        try:
            yield
        finally:
            self.give_up(cell)

    @contextmanager
    def loading(self, cell: Cell) -> Iterator[None]:
        """Note that the cell's data set is loaded or restored during the block, while other cells may be measured."""
        with self._changed:
            self._loading[cell.id] = cell
            if measured := self._measured.get(cell.turn):
                self._beside.setdefault(measured, {})[cell.hardware] = None
        try:
            yield
        finally:
            with self._changed:
                del self._loading[cell.id]

    def beside(self, cell: Cell) -> list[str]:
        """Return the hardware groups that have loaded data since the cell got its turn. The cell must still have the
        turn."""
        with self._changed:
            return list(self._beside.get(cell.id, ()))

    def give_up(self, cell: Cell) -> None:
        """End the cell's turn if it has one. Also called for an attempt that could not be resumed."""
        with self._changed:
            if self._measured.get(cell.turn) == cell.id:
                del self._measured[cell.turn]
                self._beside.pop(cell.id, None)
                self._changed.notify_all()

    def _is_next(self, cell: Cell) -> bool:
        measured = self._measured.get(cell.turn)
        return measured == cell.id or (measured is None and self._waiting[cell.turn][0] == cell.id)

    def _wait(self, cell: Cell, stopping: threading.Event) -> None:
        with self._changed:
            # An interrupt ends the measured cell first. A cell that took over its turn would count as a writer.
            while not stopping.is_set() and not self._is_next(cell):
                self._changed.wait(_LOOK_EVERY_S)
            if stopping.is_set():
                raise Interrupted
            self._measured[cell.turn] = cell.id
            also = {each.hardware: None for each in self._loading.values() if each.turn == cell.turn}
            self._beside.setdefault(cell.id, {}).update(also)

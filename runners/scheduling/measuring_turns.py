"""Turns at measuring (`overlap = loading`): one hardware group is measured at a time, while others load.

A cell waits for its turn once its data set is there, and has it until its measurement has ended. The one that has
waited longest is next.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext

from benchbrief.model.plan import Cell
from benchbrief.model.run_record import Left
from benchbrief.runners.errors import Interrupted

_LOOK_EVERY_S = 0.5
"""How often, in seconds, a waiting cell checks whether the run must stop."""


class MeasuringTurns:
    """The turns of a run, shared by its lanes. `left` has the attempts that are resumed: one that was being measured
    still has its turn. `making_room` is entered while a cell waits for another one."""

    def __init__(
        self,
        cells: Iterable[Cell],
        left: Mapping[str, Left],
        making_room: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._making_room = making_room
        self._changed = threading.Condition()
        self._measured: dict[str, str] = {}
        """The cell that has the turn, by turn."""
        self._waiting: dict[str, list[str]] = {}
        """The cells that wait, by turn, the next one first."""
        self._loading: dict[str, Cell] = {}
        self._beside: dict[str, dict[str, None]] = {}
        """The hardware that has loaded while a cell had its turn, by the cell."""
        for cell in cells:
            if cell.turn and cell.id in left and left[cell.id].current in ("warm_up", "measure"):
                self._measured.setdefault(cell.turn, cell.id)

    @contextmanager
    def taken(
        self, cell: Cell, stopping: threading.Event, waiting: Callable[[], AbstractContextManager[None]]
    ) -> Iterator[None]:
        """Take the cell's turn, and keep it meanwhile. Enters `waiting` while it has to wait.

        Raises Interrupted when the run must stop before.
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
        """Take note of a load, or of what else brings back the cell's data."""
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
        """Return the hardware that has loaded while the cell, which still has its turn, was measured."""
        with self._changed:
            return list(self._beside.get(cell.id, ()))

    def give_up(self, cell: Cell) -> None:
        """End the cell's turn, if it has it: also that of an attempt that could not be resumed."""
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

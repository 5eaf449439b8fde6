"""When the first cells of a workload on a hardware all fail for one reason, the rest of them is not tried for hours.

One point that fails says nothing about a lower load, so several points have to fail, and a cell with less load than all
of them is still tried.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from benchbrief.compiler.messages.text import Text, mapped
from benchbrief.compiler.planning.plan import Cell
from benchbrief.runners.errors import HostError, RunnerError
from benchbrief.runners.journal.run_folder import cell_directory
from benchbrief.runners.messages.run_messages import say

ALIKE = 3
"""So many cells, and so many points where there are as many, do not fail alike by chance."""


class NotTried(RunnerError):
    """A cell is not tried, as those of its workload before it on its hardware all failed for one reason."""

    code = "not_tried"


class _Point(NamedTuple):
    """The load of a cell: its threads, and the operations per second that it offers (infinite: as fast as it can)."""

    threads: float
    target: float

    @classmethod
    def of(cls, cell: Cell) -> _Point:
        target = cell.target if cell.target is not None else math.inf
        return cls(cell.threads or 0, target)

    def is_within(self, other: _Point) -> bool:
        """Return whether this load is nowhere above the other."""
        return self.threads <= other.threads and self.target <= other.target


@dataclass
class _Failures:
    reason: str
    shape: Hashable
    by_plan: bool
    by_host: bool
    cells: int = 0
    points: set[_Point] = field(default_factory=set)


class FirstFailures:
    """The failures of each workload on each hardware whose first cells there all fail for one reason."""

    def __init__(self, planned: Iterable[Cell], done: Iterable[Cell]) -> None:
        self._planned: dict[Hashable, set[_Point]] = {}
        for cell in planned:
            self._planned.setdefault(_place(cell), set()).add(_Point.of(cell))
        self._over = {_place(cell) for cell in done}
        """Where a cell was good, or where cells failed for several reasons."""
        self._failures: dict[Hashable, _Failures] = {}
        self._lock = threading.Lock()

    def good(self, cell: Cell) -> None:
        with self._lock:
            self._over.add(_place(cell))

    def failed(self, cell: Cell, error: RunnerError, reason: str) -> None:
        """Count a cell that failed for good. A lost host says nothing about others, and is waited for elsewhere."""
        if isinstance(error, HostError | NotTried):
            return
        shape = shape_of_failure(cell.id, reason)
        with self._lock:
            known = self._failures.setdefault(_place(cell), _Failures(reason, shape, error.by_plan, error.by_host))
            known.cells += 1
            known.points.add(_Point.of(cell))
            if shape != known.shape:
                self._over.add(_place(cell))

    def why_not(self, cell: Cell) -> NotTried | None:
        """Return an error when the first cells of its workload on its hardware failed alike, one with no more load."""
        place, load = _place(cell), _Point.of(cell)
        with self._lock:
            known = self._failures.get(place)
            if known is None or known.cells < ALIKE or place in self._over:
                return None
            few = len(known.points) < min(ALIKE, len(self._planned.get(place, ())))
            if few or not any(point.is_within(load) for point in known.points):
                return None
            error = NotTried(say.not_tried(n=ALIKE, said=known.reason))
            error.by_plan, error.by_host = known.by_plan, known.by_host
        return error


def _place(cell: Cell) -> Hashable:
    return cell.experiment, cell.hardware, cell.workload


def shape_of_failure(cell: str, reason: str) -> Hashable:
    """Return what a cell's reason has in common with others that differ in their numbers and the cell's name only."""
    folder = cell_directory(cell, 1).parent.name
    common = mapped(reason, lambda text: text.replace(cell, "@").replace(folder, "@"))
    return common.shape if isinstance(common, Text) else common

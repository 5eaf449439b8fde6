"""Decides whether a failed cell is measured again. It is not if another attempt would fail in the same way.

If the first cells of a workload on a hardware group all failed for one reason, the workload's other cells there are not
tried at all.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Hashable, Iterable
from dataclasses import field
from typing import NamedTuple

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.message import Message, mapped
from benchbrief.model.plan import Cell
from benchbrief.model.points import Curve
from benchbrief.model.run_messages import say
from benchbrief.runners.errors import HostError, RunnerError
from benchbrief.runners.journal.run_folder import cell_directory


@dataclass(frozen=True)
class Try:
    """The next attempt at a cell. `last` is the number of the last attempt that the cell may have, and `before` says
    how the previous attempt ended.

    `has_extra` means that an error may still give the cell one attempt more than its experiment allows.
    """

    cell: Cell
    attempt: int
    last: int
    before: str = ""
    has_extra: bool = True

    def after(self, error: RunnerError) -> Try | None:
        """Return the attempt after this failed one. Returns None if this was the last one, or if the plan is the
        cause."""
        is_extra = error.is_tried_once_more and self.has_extra
        last = self.last + is_extra
        if error.by_plan or not error.is_worth_another_attempt or self.attempt >= last:
            return None
        before = say.tried_again(n=self.attempt, said=error.one_line)
        return Try(self.cell, self.attempt + 1, last, before, self.has_extra and not is_extra)


ALIKE = 3
"""How many cells must fail for the same reason to rule out chance. They must be at this many different points, or at
all points if there are fewer."""


class NotTried(RunnerError):
    """The cell is not tried, because all earlier cells of the same workload, hardware group and levels failed for one
    reason."""

    code = "not_tried"


class _Point(NamedTuple):
    """The load of a cell: its threads, and the operations per second that it offers (infinite if it works as fast as it
    can)."""

    threads: float
    target: float

    @classmethod
    def of(cls, cell: Cell) -> _Point:
        target = cell.target if cell.target is not None else math.inf
        return cls(cell.threads or 0, target)

    def is_within(self, other: _Point) -> bool:
        """Return whether this load has neither more threads nor a higher offered rate than the other."""
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
    """The first failures of each workload on each hardware group. They determine whether its other cells there are
    tried."""

    def __init__(self, planned: Iterable[Cell], done: Iterable[Cell]) -> None:
        self._planned: dict[Hashable, set[_Point]] = {}
        for cell in planned:
            self._planned.setdefault(Curve.of(cell), set()).add(_Point.of(cell))
        self._over = {Curve.of(cell) for cell in done}
        """The workloads that had a good cell or failed for different reasons, each with its hardware group."""
        self._failures: dict[Hashable, _Failures] = {}
        self._lock = threading.Lock()

    def good(self, cell: Cell) -> None:
        with self._lock:
            self._over.add(Curve.of(cell))

    def failed(self, cell: Cell, error: RunnerError, reason: str) -> None:
        """Count a cell that finally failed. Cells that were not tried do not count. Neither do cells that lost a host,
        since they say nothing about other cells."""
        if isinstance(error, HostError | NotTried):
            return
        shape = shape_of_failure(cell.id, reason)
        with self._lock:
            known = self._failures.setdefault(Curve.of(cell), _Failures(reason, shape, error.by_plan, error.by_host))
            known.cells += 1
            known.points.add(_Point.of(cell))
            if shape != known.shape:
                self._over.add(Curve.of(cell))

    def why_not(self, cell: Cell) -> NotTried | None:
        """Return why a cell is not tried: the first cells of its workload on its hardware group all failed for one
        reason. Return None if the cell must be tried.

        At least one of the failed cells must have had no more load than this cell.
        """
        place, load = Curve.of(cell), _Point.of(cell)
        with self._lock:
            known = self._failures.get(place)
            if known is None or known.cells < ALIKE or place in self._over:
                return None
            few = len(known.points) < min(ALIKE, len(self._planned.get(place, ())))
            if few or not any(point.is_within(load) for point in known.points):
                return None
            not_tried = say.not_tried_levels if cell.levels else say.not_tried
            error = NotTried(not_tried(n=ALIKE, said=known.reason))
            error.by_plan, error.by_host = known.by_plan, known.by_host
        return error


def shape_of_failure(cell: str, reason: str) -> Hashable:
    """Return the part of a failure's reason that does not depend on numbers and the cell's name."""
    folder = cell_directory(cell, 1).parent.name
    common = mapped(reason, lambda text: text.replace(cell, "@").replace(folder, "@"))
    return common.shape if isinstance(common, Message) else common

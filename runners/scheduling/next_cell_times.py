"""How long the next cells of a lane should take, by what the run's journal says of the cells before them.

A cell's time has two parts. Its own steps take as long as the longest earlier repeat of its point, without its
wait for a turn. Its data set is brought back only where the cells before, in the order in which they ran, leave it
unfit; that takes as long as it took earlier in the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass

from benchbrief.compiler.planning.fingerprint import place_of
from benchbrief.compiler.planning.plan import Cell, Plan
from benchbrief.compiler.resets.data_states import DataStates
from benchbrief.compiler.resets.tolerated_changes import ResetWork, changes_of
from benchbrief.runners.journal.run_record import RunRecord


@dataclass(frozen=True)
class _Reset:
    """A reset of the run: how a cell got its data set, and the seconds it took."""

    cell: Cell
    work: ResetWork
    seconds: float


class ExpectedTimes:
    """What cells of a lane would take now. `repeats_of` returns all cells of a cell's point."""

    def __init__(
        self, plan: Plan, record: RunRecord, lane: Iterable[Cell], repeats_of: Callable[[Cell], Sequence[Cell]]
    ) -> None:
        self._plan, self._record, self._repeats_of = plan, record, repeats_of
        self._places: dict[str, str] = {}
        self._states = DataStates()
        self._resets: list[_Reset] = []
        self._planned: dict[tuple[str, str, ResetWork], float] = {}
        """The longest planned reset, by the database, the data set and the kind."""
        began: list[tuple[float, Cell]] = []
        for cell in lane:
            for step in cell.steps:
                if step.reset:
                    key = self._key(cell, step.reset)
                    self._planned[key] = max(step.seconds, self._planned.get(key, 0.0))
            if cell.id in record.cells and cell.id not in record.reused:
                began += [(start.at, cell) for start in record.cells[cell.id].started.values()]
        for _, cell in sorted(began, key=lambda each: each[0]):
            self._note(cell, self._next(cell, self._states))

    def seconds(self, cells: Sequence[Cell], *, guessed: bool = True) -> float:
        """Return what the cells take, one after another. Not `guessed`: a reset counts only once the run has shown
        what such resets take."""
        states = deepcopy(self._states)
        return sum(self._own_s(cell) + self._reset_s(cell, self._next(cell, states), guessed) for cell in cells)

    def _next(self, cell: Cell, states: DataStates) -> ResetWork:
        """Return how a cell that is next gets its data set."""
        database = self._plan.databases[cell.database]
        if cell.database not in self._places:
            self._places[cell.database] = place_of(self._plan.hardware[cell.hardware], database, self._plan.hosts)
        place = self._places[cell.database]
        if cell.dataset is None:
            states.without(place)
            return ""
        step = states.reset(place, cell.dataset.hash, database.reset, database.engine, bytes_=0.0, load_s=0.0)
        states.changed(place, changes_of(self._plan.workloads[cell.workload], cell.events), 0.0)
        return step.work

    def _note(self, cell: Cell, work: ResetWork) -> None:
        took = self._record.times.resets.get(cell.id)
        if took is None:
            verdict = self._record.cells[cell.id].ended
            if work and verdict is not None and verdict.status == "ok":  # its tool has nothing to load
                self._resets.append(_Reset(cell, work, 0.0))
            return
        if took.skipped:  # an earlier run left the data set
            return
        if took.loaded or work not in ("", "load"):
            self._resets.append(_Reset(cell, "load" if took.loaded else work, took.seconds))

    def _own_s(self, cell: Cell) -> float:
        times = self._record.times
        took = [
            # A reset that failed is in no list of resets, and its time would be in none.
            times.seconds[each.id]
            - (times.resetting.get(each.id, 0.0) if each.id in times.resets else 0.0)
            # How long other groups were measured meanwhile says nothing about the next repeat.
            - times.waiting.get(each.id, 0.0)
            for each in self._repeats_of(cell)
            if times.seconds.get(each.id)
        ]
        return max(took, default=sum(step.seconds for step in cell.steps if step.kind != "load"))

    def _reset_s(self, cell: Cell, work: ResetWork, guessed: bool) -> float:
        """Return what such a reset took, of this data set if there was one; before the first, what is planned."""
        planned_s = self._planned.get(self._key(cell, work), 0.0)
        alike = [each for each in self._resets if each.work == work]
        for same in (2, 1, 0):  # of the same data set, of the same database, any
            key = self._key(cell, work)[:same]
            found = [each for each in alike if self._key(each.cell, work)[:same] == key]
            if found:
                return max(each.seconds * self._larger(planned_s, each) for each in found)
        return planned_s if guessed else 0.0

    def _larger(self, planned_s: float, seen: _Reset) -> float:
        """Return how many times longer than one that was seen a reset is planned."""
        theirs_s = self._planned.get(self._key(seen.cell, seen.work), 0.0)
        return planned_s / theirs_s if planned_s and theirs_s else 1.0

    def _key(self, cell: Cell, work: ResetWork) -> tuple[str, str, ResetWork]:
        return cell.database, cell.dataset.hash if cell.dataset else "", work

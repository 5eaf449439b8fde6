"""How long the steps of a run take, against what its plan gives them: so the time left is learned from the run itself.

Each kind of step has a pace of its own on each database. A load that takes a tenth of its estimate says nothing of the
measurements, which take what is declared.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from benchbrief.compiler.planning.plan import Cell, Plan, Step
from benchbrief.results.runs.times_taken import TimesTaken

_Kind = tuple[str, str, str]
"""A database, a kind of step, and how the step brings back data."""


@dataclass
class Pace:
    """What steps took so far, in seconds, beside their estimates."""

    _planned: dict[_Kind, float] = field(default_factory=lambda: defaultdict(float))
    _took: dict[_Kind, float] = field(default_factory=lambda: defaultdict(float))
    _cells: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def begin(self, cell_id: str) -> None:
        """Take note that an attempt begins: the steps of earlier ones are not of it."""
        self._cells.pop(cell_id, None)

    def note(self, cell: Cell, kind: str, seconds: float) -> None:
        """Take note of a step that ended; one that was skipped took 0 s, and says nothing of others."""
        self._cells[cell.id] += seconds
        step = next((each for each in cell.steps if each.kind == kind), None)
        if step is not None and seconds and step.seconds:
            self._planned[_kind(cell, step)] += step.seconds
            self._took[_kind(cell, step)] += seconds

    def expected(self, cell: Cell) -> float:
        """Return the seconds of a cell without its cool-down, as such steps have taken so far."""
        return sum(self._seconds(cell, step) for step in cell.steps if step.kind != "cool_down")

    def measuring(self, cell: Cell) -> float:
        """Return the seconds of a cell's warm-up and measurement, as such steps have taken so far."""
        return sum(self._seconds(cell, step) for step in cell.steps if step.kind in ("warm_up", "measure"))

    def stepped(self, cell: Cell) -> float:
        """Return the seconds of the cell's steps that ended; their estimate when none is known."""
        return self._cells.get(cell.id) or self.expected(cell)

    def _seconds(self, cell: Cell, step: Step) -> float:
        kind = _kind(cell, step)
        planned = self._planned.get(kind)
        return step.seconds * self._took[kind] / planned if planned else step.seconds


def _kind(cell: Cell, step: Step) -> _Kind:
    return cell.database, step.kind, step.reset


def pace_of(plan: Plan, taken: TimesTaken) -> Pace:
    """Return the pace of a run by the good attempts at its cells."""
    pace, cells = Pace(), {cell.id: cell for cell in plan.cells}
    for attempt in taken.attempts.values():
        if attempt.good and (cell := cells.get(attempt.cell)):
            pace.begin(cell.id)
            for kind, seconds in attempt.steps.items():
                if kind != "cool_down":
                    pace.note(cell, kind, seconds)
    return pace

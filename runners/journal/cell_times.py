"""How long each cell has taken, by the records of a journal: all its attempts, and its cool-downs.

The time between two controllers of a run does not count, except for the rest of a step: what was begun on the hosts
goes on there by itself. What comes before the first start was measured in another run, and does not count either.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from benchbrief.runners.journal import events as j


@dataclass
class CellTimes:
    """`seconds` has the time of each cell so far."""

    seconds: dict[str, float] = field(default_factory=dict)
    _since: dict[str, float] = field(default_factory=dict)
    """Up to when the time of each running cell is counted."""
    _until: dict[str, float] = field(default_factory=dict)
    """When the step that each running cell is in should end."""
    _begun: bool = False

    def add(self, record: j.AnyRecord) -> None:
        if isinstance(record, j.RunStarted):
            self._begun = True
            for running in self._since:
                self._count(running, min(record.at, self._until.get(running, 0.0)))
            self._since.clear()
        cell: str | None = getattr(record, "cell", None)
        if not self._begun or cell is None or isinstance(record, j.Remark | j.CellSkipped):
            return
        if isinstance(record, j.CellStarted | j.CellResumed) or cell not in self._since:
            self._since[cell] = record.at
        self._count(cell, record.at)
        match record:
            case j.StepStarted():
                self._until[cell] = record.at + record.seconds
            case j.CellEnded() | j.StepEnded(step="cool_down"):
                self._since.pop(cell, None)
            case _:
                pass

    def _count(self, cell: str, until: float) -> None:
        since = self._since[cell]
        self.seconds[cell] = self.seconds.get(cell, 0.0) + max(0.0, until - since)
        self._since[cell] = max(since, until)

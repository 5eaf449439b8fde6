"""How each planned cell ended, according to the journal: its last verdict decides.

A cell that started again after its last verdict, and never ended, is missing. So is one that never started.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from benchbrief.model import events as j
from benchbrief.model.events import JournalPlace
from benchbrief.model.plan import Cell
from benchbrief.model.run_record import CellHistory
from benchbrief.results.result_messages import say
from benchbrief.runners.hosts.host_clocks import Offset, axis_step, offset_of
from benchbrief.runners.hosts.host_connections import CONTROLLER
from benchbrief.runners.journal.journal_file import records_at

Status = Literal["ok", "failed", "missing", "skipped"]
"""A skipped cell is not needed, so nothing is missing without it."""


@dataclass(frozen=True)
class Verdict:
    """How a planned cell ended. `places` are the rest of `attempt` in the journal.

    They are read on first use, and kept as long as the verdict. A copy (`replace`) keeps its own. `cell` has the
    threads and the target that a search has found for it, once they are known.
    """

    cell: Cell
    status: Status
    reason: str | None
    attempt: int | None = None
    started_at: float | None = None
    seconds: float | None = None
    """From the attempt's start to its end; None when it has none."""
    ops_per_s: float | None = None
    """As the run recorded it when the cell ended well."""
    places: tuple[JournalPlace, ...] = ()
    by_plan: bool = False
    """Whether the plan itself is the cause of a failure: tried again, the cell fails again."""
    by_host: bool = False
    """Whether a host is the cause of a failure."""
    no_room: j.NoRoom = ""
    """What a budget had no room for: a repeat, which is skipped, or the point itself, which is missing then."""

    @cached_property
    def _kept(self) -> tuple[j.AnyRecord, ...]:
        return tuple(records_at(self.places))

    @cached_property
    def jobs(self) -> tuple[j.JobCollected, ...]:
        return tuple(record for record in self._kept if isinstance(record, j.JobCollected))

    @cached_property
    def counters(self) -> tuple[j.Counters, ...]:
        return tuple(record for record in self._kept if isinstance(record, j.Counters))

    @cached_property
    def clocks(self) -> tuple[j.ClockRead, ...]:
        return tuple(record for record in self._kept if isinstance(record, j.ClockRead))

    @cached_property
    def events(self) -> tuple[j.EventRan, ...]:
        return tuple(record for record in self._kept if isinstance(record, j.EventRan))

    @cached_property
    def measuring_ended(self) -> j.MeasuringEnded | None:
        """How its measurement ended that was to go on until it is steady."""
        return next((record for record in reversed(self._kept) if isinstance(record, j.MeasuringEnded)), None)

    @cached_property
    def sizes(self) -> tuple[j.DatabaseSize, ...]:
        return tuple(record for record in self._kept if isinstance(record, j.DatabaseSize))

    def offset(self, host: str) -> Offset:
        """Return how far a host's clock was ahead of the controller's time, and by how much it was set; 0 if
        unknown."""
        return offset_of(*self._read(host), axis_step(*self._read(CONTROLLER.id)))

    def _read(self, host: str) -> tuple[j.ClockRead | None, j.ClockRead | None]:
        read = {clock.when: clock for clock in self.clocks if clock.host == host}
        return read.get("before"), read.get("after")


def verdict_of(history: CellHistory, cell: Cell, unseen: str, *, over: bool = False) -> Verdict:
    """Return the verdict on a cell. `unseen` is the reason of a cell that never began. `over`: the run has ended."""
    ended = history.ended
    last = max(history.started, default=None)
    if history.skipped is not None and (ended is None or ended.status == "failed"):
        lost = history.no_room == "point"
        return Verdict(cell, "missing" if lost else "skipped", history.skipped, no_room=history.no_room)
    cell = _as_run(history, cell)
    if last is None and ended is None:
        return Verdict(cell, "missing", unseen)
    if ended is None or (last is not None and last > ended.attempt):
        said = say.interrupted_attempt(n=last) if over else say.unended(n=last)
        if ended and ended.status == "failed":
            said = say.failed_before(said=said, n=ended.attempt, what=ended.reason)
        return _of(history, cell, "missing", said, last)
    if ended.hash != cell.hash:
        return _of(history, cell, "missing", say.other_definition(), ended.attempt)
    if ended.status == "failed":
        return _of(history, cell, "failed", ended.reason or say.failed_unknown(), ended.attempt)
    return _of(history, cell, "ok", None, ended.attempt)


def _as_run(history: CellHistory, cell: Cell) -> Cell:
    """Return the cell with its last attempt's numbers, when a search found them."""
    started = history.started.get(history.attempt)
    return cell.at_load(started and started.threads, started and started.target)


def _of(history: CellHistory, cell: Cell, status: Status, reason: str | None, attempt: int | None) -> Verdict:
    number = attempt or 0
    started = history.started.get(number)
    ended = history.ended if history.ended and history.ended.attempt == attempt else None
    return Verdict(
        cell,
        status,
        reason,
        attempt,
        started_at=started.at if started else None,
        seconds=ended.at - started.at if started and ended else None,
        ops_per_s=ended.ops_per_s if ended else None,
        places=tuple(history.kept.get(number, ())),
        by_plan=bool(ended and ended.by_plan),
        by_host=bool(ended and ended.by_host),
    )

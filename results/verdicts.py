"""How each planned cell ended, by what the journal says of it: its last verdict decides.

A cell that started again after its last verdict, and never ended, is missing; so is one that never started.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

from benchbrief.compiler.plan import Cell
from benchbrief.runners import journal as j
from benchbrief.runners.clock import Offset, offset_of
from benchbrief.runners.journal_io import Place, records_at

Status = Literal["ok", "failed", "missing", "skipped"]
"""Skipped cells are not needed, so nothing is missing without them."""

UNENDED = "has no end: going on, or interrupted"
"""What is known of an attempt from the journal alone, as long as the run has no end either."""
INTERRUPTED = "was interrupted"

Kept = j.JobCollected | j.Counters | j.ClockRead
"""What an attempt leaves: records that may be large, and so are read when they are asked for."""


@dataclass(frozen=True)
class Verdict:
    """How a planned cell ended. `places` are where the journal has the rest of `attempt`, which is read on first use
    and held as long as the verdict is: a copy (`replace`) holds it apart.

    `cell` has the threads and the target that a search has found for it, once they are known.
    """

    cell: Cell
    status: Status
    reason: str | None
    attempt: int | None = None
    started_at: float | None = None
    seconds: float | None = None
    """From the attempt's start to its end; None when it has none."""
    ops_per_s: float | None = None
    """As the run said it when the cell ended well."""
    places: tuple[Place, ...] = ()

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

    def offset(self, host: str) -> Offset:
        """How far a host's clock was ahead of the controller's; 0 if not known."""
        read = {clock.when: clock for clock in self.clocks if clock.host == host}
        return offset_of(read.get("before"), read.get("after"))


class _Started(NamedTuple):
    at: float
    threads: int | None
    target: float | None


@dataclass(slots=True)
class History:
    """What the journal says of one cell."""

    started: dict[int, _Started] = field(default_factory=dict)
    ended: j.CellEnded | None = None
    skipped: str | None = None
    kept: dict[int, list[Place]] = field(default_factory=dict)

    def add(self, record: j.CellStarted | j.CellEnded | j.CellSkipped) -> None:
        if isinstance(record, j.CellStarted):
            self.started[record.attempt] = _Started(record.at, record.threads, record.target)
        elif isinstance(record, j.CellSkipped):
            self.skipped = record.reason
        else:
            self.ended = record

    def keep(self, record: Kept, place: Place) -> None:
        self.kept.setdefault(record.attempt, []).append(place)

    def verdict(self, cell: Cell, unseen: str, unended: str = UNENDED) -> Verdict:
        """`unseen` is the reason of a cell that was never begun, `unended` of one whose attempt has no end."""
        ended = self.ended
        last = max(self.started, default=None)
        if self.skipped is not None and (ended is None or ended.status == "failed"):
            return Verdict(cell, "skipped", self.skipped)
        cell = self._as_run(cell)
        if last is None and ended is None:
            return Verdict(cell, "missing", unseen)
        if ended is None or (last is not None and last > ended.attempt):
            before = f"; attempt {ended.attempt} failed: {ended.reason}" if ended and ended.status == "failed" else ""
            return self._of(cell, "missing", f"attempt {last} {unended}{before}", last)
        if ended.hash != cell.hash:
            reason = "the journal's result belongs to another definition of this cell"
            return self._of(cell, "missing", reason, ended.attempt)
        if ended.status == "failed":
            return self._of(cell, "failed", ended.reason or "failed, no reason recorded", ended.attempt)
        return self._of(cell, "ok", None, ended.attempt)

    def _as_run(self, cell: Cell) -> Cell:
        """With the numbers that its last attempt was run with, where those were found by a search."""
        started = self.started[max(self.started)] if self.started else None
        return found(cell, threads=started and started.threads, target=started and started.target)

    def _of(self, cell: Cell, status: Status, reason: str | None, attempt: int | None) -> Verdict:
        number = attempt or 0
        started = self.started.get(number)
        ended = self.ended if self.ended and self.ended.attempt == attempt else None
        return Verdict(
            cell,
            status,
            reason,
            attempt,
            started_at=started.at if started else None,
            seconds=ended.at - started.at if started and ended else None,
            ops_per_s=ended.ops_per_s if ended else None,
            places=tuple(self.kept.get(number, ())),
        )


def found(cell: Cell, *, threads: int | None, target: float | None) -> Cell:
    """The cell with what a search has found for it; itself where there is nothing."""
    known = {name: value for name, value in (("threads", threads), ("target", target)) if value is not None}
    return cell.model_copy(update=known) if known else cell

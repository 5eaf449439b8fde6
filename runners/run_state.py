"""The state of one execution, which its lanes share, and how it ended."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from benchbrief.compiler.plan import Cell, Plan
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.history import Left
from benchbrief.runners.journal_io import Journal
from benchbrief.runners.live import Monitor
from benchbrief.runners.repeats import RepeatsUntil
from benchbrief.runners.searches import Searches
from benchbrief.runners.supported import Meter
from benchbrief.runners.world import World


@dataclass(frozen=True)
class Outcome:
    """How a run ended; `failed` pairs each failed cell with its reason."""

    status: Literal["done", "failed", "interrupted"]
    message: str
    failed: tuple[tuple[str, str], ...]


def one_line(error: RunnerError) -> str:
    return " ".join((f"{error} ({error.hint})" if error.hint else str(error)).split())


@dataclass(frozen=True)
class Ending:
    """Whether nothing more is to be begun: the run is to stop, or a failure has ended it."""

    run: RunState

    def is_set(self) -> bool:
        return self.run.stopping.is_set() or bool(self.run.halted_by)


@dataclass
class RunState:
    """The state of one execution, shared by its lanes. `failed`, `fatal`, `skipped`, `begun` change, under the lock.

    `left` are the attempts of an earlier controller that are gone on with, by cell; `tools_before` where it found
    tools, by host and driver; `warm` its attempts that no cool-down has followed, the last one last.
    """

    plan: Plan
    run_dir: Path
    journal: Journal
    stopping: threading.Event
    done: set[str]
    attempts: dict[str, int]
    resumed: bool
    reused: int
    searches: Searches
    repeats: RepeatsUntil
    world: World
    monitor: Monitor = field(default_factory=Monitor)
    left: Mapping[str, Left] = field(default_factory=dict)
    tools_before: Mapping[tuple[str, str], set[str]] = field(default_factory=dict)
    warm: Mapping[str, int] = field(default_factory=dict)
    last_alive: float = 0.0
    """When an earlier controller last gave a sign of life beside its journal, by the controller's clock."""
    skipped: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    fatal: list[RunnerError] = field(default_factory=list)
    begun: set[str] = field(default_factory=set)
    judged: set[str] = field(default_factory=set)
    """Cells that have their last verdict by this execution, or were not needed."""
    claimed: list[str] = field(default_factory=list)
    """Hosts that were claimed by a lane, be it anew; changed under the lock."""
    silent_meters: dict[Meter, RunnerError] = field(default_factory=dict)
    """Power meters that said nothing when they were last tried; changed under the lock."""
    halted_by: str = ""
    """The cell whose failure is to be the last thing that happens, by its experiment's `on_failure = stop`."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def ending(self) -> Ending:
        return Ending(self)

    def begin(self, cell: Cell) -> None:
        with self.lock:
            self.begun.add(cell.id)

    def fail(self, cell: Cell, reason: str) -> None:
        with self.lock:
            self.failed.append((cell.id, reason))
            if self.plan.experiments[cell.experiment].on_failure == "stop":
                self.halted_by = self.halted_by or cell.id

    def outcome(self) -> Outcome:
        failed = tuple(self.failed)
        if self.fatal:
            return Outcome("interrupted", one_line(self.fatal[0]), failed)
        if self.stopping.is_set() and any(cell.id not in self.done | self.judged for cell in self.plan.cells):
            return Outcome("interrupted", "stopped before every cell was run", failed)
        if self.halted_by:
            left = len(self.plan.cells) - len(self.done | self.begun)
            text = f"stopped as {self.halted_by} failed (`on_failure = stop`): {left} of {len(self.plan.cells)} cells"
            return Outcome("failed", f"{text} were not begun, and {len(failed)} failed", failed)
        if failed:
            return Outcome("failed", f"{len(failed)} of {len(self.plan.cells)} cells failed", failed)
        taken = "all" if self.reused == len(self.plan.cells) else f"{self.reused} of them"
        earlier = f", {taken} taken from earlier runs" if self.reused else ""
        skipped = f", {self.skipped} of them not needed" if self.skipped else ""
        return Outcome("done", f"{len(self.plan.cells)} cells{earlier}{skipped}", ())

    def stop_all(self, error: RunnerError) -> None:
        with self.lock:
            self.fatal.append(error)
        self.stopping.set()

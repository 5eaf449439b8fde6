"""Follows the data sets in each storage place while a plan's cells run: what each cell finds there, and how long its
reset takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace

from benchbrief.compiler.registry import ENGINE_SPECS, SNAPSHOT_SPECS, TOOL_SPECS
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.engine_spec import AFTER_WRITES, Reset, by_file_system, is_restored
from benchbrief.model.plan import Event, ResetWork, Workload
from benchbrief.model.tool_spec import CHANGES, Change


def tolerated(reset: Reset, engine: str) -> tuple[Change, ...]:
    """Return the kinds of changes that a data set may have had if the next cell is to use it without loading or
    restoring it."""
    if reset == "reuse" or is_restored(reset):
        return CHANGES
    spec = ENGINE_SPECS.usable(engine)
    if reset in ("as_needed", "undo") and spec and spec.updates_in_place:
        return ("nothing", "updates")
    return ("nothing",)


def worse(one: Change, other: Change) -> Change:
    """Return the worse of two changes: the one that leaves less of a data set intact."""
    return max(one, other, key=CHANGES.index)


def may_change_data(events: Iterable[Event]) -> bool:
    return any(event.data == "changed" for event in events)


def changes_of(workload: Workload, events: Iterable[Event]) -> Change:
    """Return how a cell changes its data set. An event may change anything, unless the spec says that it keeps the
    data."""
    return "anything" if may_change_data(events) else workload.changes


def writes(workload: Workload, events: Iterable[Event]) -> bool:
    """Return whether a cell may change its data set."""
    return workload.writes or may_change_data(events)


def record_bytes(workload: Workload) -> float:
    """Return the bytes of a record before compression, as its load generator counts them, or 0 if they are unknown."""
    family = TOOL_SPECS.usable(workload.family)
    return family.record_bytes(workload.properties) if family else 0.0


COPIED_BYTES_PER_S = 500e6
"""The estimated speed at which a snapshot is copied."""


@dataclass(frozen=True)
class _State:
    """The data set in a storage place, its changes since the load, and how many seconds cells have spent on inserting
    into it."""

    dataset: str
    changes: Change = "nothing"
    insert_s: float = 0.0


@dataclass(frozen=True)
class ResetStep:
    """How a cell gets its data set, and about how many seconds that takes."""

    work: ResetWork = ""
    seconds: float = 0.0


LINKED_S = 0.5
"""The estimated seconds to link files back."""


@dataclass
class DataStates:
    """The data set in each storage place, as left by all cells that have been added."""

    _held: dict[str, _State] = field(default_factory=dict)

    def without(self, place: str) -> None:
        """Record that a cell replaces the data in a storage place by its own."""
        self._held.pop(place, None)

    def reset(self, place: str, dataset: str, reset: Reset, engine: str, *, bytes_: float, load_s: float) -> ResetStep:
        """Return how the next cell at `place` gets its data set. `dataset` is the data set's hash."""
        found = self._held.get(place)
        there = found if found and found.dataset == dataset and reset != "drop_and_load" else None
        fit = there and there.changes in tolerated(reset, engine)
        self._held[place] = there if there and fit else _State(dataset)
        if reset == "command":
            return ResetStep("command")
        if there and is_restored(reset):
            self._held[place] = _State(dataset)
            if reset in AFTER_WRITES and there.changes == "nothing":
                return ResetStep()
            if reset == "links":
                return ResetStep("links", LINKED_S)
            if by_file_system(reset):
                system = SNAPSHOT_SPECS.usable(reset)
                return ResetStep(reset, system.restore_s if system else 0.0)
            return ResetStep("copy", min(load_s, float(-(-bytes_ // COPIED_BYTES_PER_S))))
        if fit:
            return ResetStep()
        if there and reset == "undo" and there.changes == "inserts":
            self._held[place] = replace(there, changes="updates", insert_s=0.0)
            return ResetStep("undo", min(load_s, float(-(-there.insert_s // 1))))
        return ResetStep("load", load_s)

    def changed(self, place: str, changes: Change, insert_s: float) -> None:
        """Record that a cell changes the data in a storage place."""
        if (found := self._held.get(place)) and (insert_s or found.changes != changes):
            changes = worse(found.changes, changes)
            self._held[place] = _State(found.dataset, changes, found.insert_s + insert_s)

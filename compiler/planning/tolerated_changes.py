"""Which changes to its data set the next cell does not notice, by the reset and the engine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Protocol

from benchbrief.compiler.extensions.registry import ENGINE_SPECS
from benchbrief.model.engine_spec import RESTORED, Reset
from benchbrief.model.tool_spec import CHANGES, Change


def tolerated(reset: Reset, engine: str) -> tuple[Change, ...]:
    """Return which changes by a cell leave a data set fit for the next one, so that it is neither loaded nor undone."""
    if reset in ("reuse", *RESTORED):  # all but the first bring it back
        return CHANGES
    spec = ENGINE_SPECS.usable(engine)
    if reset in ("as_needed", "undo") and spec and spec.updates_in_place:
        return ("nothing", "updates")
    return ("nothing",)


def worse(one: Change, other: Change) -> Change:
    return max(one, other, key=CHANGES.index)


class _Event(Protocol):
    """What counts of an event here: whether it may change the data set."""

    @property
    def data(self) -> Literal["changed", "kept"]: ...


class _Workload(Protocol):
    """What counts of a workload here."""

    @property
    def changes(self) -> Change: ...
    @property
    def writes(self) -> bool: ...


def may_change_data(events: Iterable[_Event]) -> bool:
    return any(event.data == "changed" for event in events)


def changes_of(workload: _Workload, events: Iterable[_Event]) -> Change:
    """Return what a cell does to its data set: an event may change anything, unless it is said to keep the data."""
    return "anything" if may_change_data(events) else workload.changes


def writes(workload: _Workload, events: Iterable[_Event]) -> bool:
    """Return whether a cell may leave another data set than it found."""
    return workload.writes or may_change_data(events)

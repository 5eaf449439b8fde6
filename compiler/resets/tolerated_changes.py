"""Which changes to its data set the next cell does not notice, by the reset and the engine."""

from __future__ import annotations

from typing import Literal

from benchbrief.compiler.extensions.engine_spec import Reset
from benchbrief.compiler.extensions.registry import ENGINE_SPECS
from benchbrief.compiler.extensions.tool_spec import CHANGES, Change

ResetWork = Literal["", "load", "undo", "copy", "links", "btrfs", "command"]
"""How a cell gets its data set: by a load, by deleting what cells inserted, by copying, linking or putting a snapshot
back, or by the declared commands; "" when it is there already."""


def tolerated(reset: Reset, engine: str) -> tuple[Change, ...]:
    """Return which changes by a cell leave a data set fit for the next one, so that it is neither loaded nor undone."""
    if reset in ("reuse", "command", "snapshot", "links", "btrfs"):  # all but the first bring it back before each cell
        return CHANGES
    spec = ENGINE_SPECS.usable(engine)
    if reset in ("as_needed", "undo") and spec and spec.updates_in_place:
        return ("nothing", "updates")
    return ("nothing",)


def worse(one: Change, other: Change) -> Change:
    return max(one, other, key=CHANGES.index)

"""What the load generators of a cell do now, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchbrief.cli.readable_quantities import duration, rate

if TYPE_CHECKING:
    from benchbrief.progress.run_view import RunView
    from benchbrief.runners.execution.live_numbers import Load


def load_rate(view: RunView, cell_id: str, load: Load, now: float) -> str:
    """The rate of a cell's load generators; while its data set is loaded, in records, and with the time left."""
    left = view.load_left_s(cell_id, load, now)
    if left is None:
        return rate(load.ops_per_s)
    return f"{load.ops_per_s:,.0f} records/s, loaded in about {duration(left)}"

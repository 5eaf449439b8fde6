"""The table of samples, which has most of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class SampleRow(NamedTuple):
    """A reading of a probe, `t_s` from the start of the measured window; `throughput` are the tool's own intervals.

    It stands for the time from `from_s` to `to_s` of the window, by which means are weighted. `energy` is one row
    for the whole window. A row without a value: the probe gave no sample on this node.
    """

    run_id: str
    cell_id: str
    measure: str
    node: str
    device: str
    t_s: float
    value: float | None
    unit: str
    from_s: float = 0.0
    to_s: float = 0.0


class SampleBlock(NamedTuple):
    """Many rows of `SampleRow` in one cell, as columns: they are nine of ten rows."""

    run_id: str
    cell_id: str
    measure: Sequence[str]
    node: Sequence[str]
    device: Sequence[str]
    t_s: Sequence[float]
    value: Sequence[float | None]
    unit: Sequence[str]
    from_s: Sequence[float]
    to_s: Sequence[float]

    @property
    def columns(self) -> tuple[Sequence[object], ...]:
        """Return the columns of `SampleRow`, all of one length."""
        size = len(self.t_s)
        return [self.run_id] * size, [self.cell_id] * size, *self[2:]

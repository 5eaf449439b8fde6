"""The table of measurements that were to go on until they are steady."""

from __future__ import annotations

from typing import NamedTuple


class SteadyRow(NamedTuple):
    """How the measurement of a cell ended that was to go on until it is steady: `steady`, within a share of the mean
    (`within`), or after the most time that it had. It lasted for `lasted_s`, `from_s` at least and `most_s` at most.

    `cut_s` is the transient at its beginning, which no number is of; NULL where that goes into the second half, so that
    all of it counts. Of the rest, half the width of the 95 % interval of each mean is a share of the mean, and the
    correlation that of batches that follow each other; NULL where there is no mean, and of latency in a closed loop.
    """

    run_id: str
    cell_id: str
    steady: bool
    within: float
    from_s: float
    most_s: float
    lasted_s: float
    cut_s: float | None
    throughput_half_width: float | None
    throughput_correlation: float | None
    latency_half_width: float | None
    latency_correlation: float | None
